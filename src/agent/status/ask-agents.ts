import { readdir, rm } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { errnoOf } from '../../wire/system-error.ts';
import { type Snapshot, snapshotSchema } from './snapshot-schema.ts';
import { onWindows, socketName } from './status-place.ts';

/** Timeout of a connection, in ms. */
const TIMEOUT_MS = 5000;
/** The most bytes of an answer that are read. */
const MAX_ANSWER = 16 * 1024 * 1024;

/** Requests the snapshots of all running agents of this user. */
export async function askAgents(directory: string): Promise<Snapshot[]> {
  const answers = await Promise.all((await places(directory)).map(ask));
  return answers.filter((answer) => answer !== undefined).toSorted((one, other) => one.pid - other.pid);
}

async function places(directory: string): Promise<string[]> {
  const folder = onWindows ? '\\\\.\\pipe\\' : directory;
  try {
    return (await readdir(folder)).filter((name) => socketName.test(name)).map((name) => path.join(folder, name));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** undefined = no agent answers */
async function ask(place: string): Promise<Snapshot | undefined> {
  const socket = net.connect(place);
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`${place} does not answer`)));
  let text = '';
  try {
    socket.setEncoding('utf8');
    for await (const piece of socket) {
      text += String(piece);
      if (text.length > MAX_ANSWER) throw new Error(`${place} sent too long an answer`);
    }
  } catch (error) {
    const gone = errnoOf(error) === 'ECONNREFUSED' || errnoOf(error) === 'ENOENT';
    if (!gone) throw error;
    // The agent's process was killed.
    if (!onWindows) await rm(place, { force: true });
    return undefined;
  }
  return snapshotSchema.parse(JSON.parse(text));
}
