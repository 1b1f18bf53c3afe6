import path from 'node:path';
import process from 'node:process';

/** Agents have named pipes instead of sockets in a directory. */
export const onWindows = process.platform === 'win32';

/** The names of agents' sockets or pipes. */
export const socketName = /^adit-agent-\d+(\.sock)?$/;

/** Where the agent with this process id answers `adit agent --status`. */
export function placeOf(directory: string, pid: number): string {
  return onWindows ? `\\\\.\\pipe\\adit-agent-${pid}` : path.join(directory, `adit-agent-${pid}.sock`);
}
