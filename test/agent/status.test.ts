import process from 'node:process';
import { afterEach, expect, test } from '@jest/globals';
import { agentStatus } from '../../src/agent/program.ts';
import type { Snapshot } from '../../src/agent/status/snapshot-schema.ts';
import { serveStatus } from '../../src/agent/status/status-socket.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
const before = process.env['ADIT_RUNTIME_DIR'];
afterEach(() => {
  if (before === undefined) delete process.env['ADIT_RUNTIME_DIR'];
  else process.env['ADIT_RUNTIME_DIR'] = before;
});

test('a running agent says its state, as text or JSON, when all agents are asked, or those with its configuration file', async () => {
  process.env['ADIT_RUNTIME_DIR'] = directory;
  const snapshot: Snapshot = {
    pid: process.pid,
    version: '1.2.3',
    config: '/etc/adit/agent.toml',
    problems: [],
    session: { server: '192.0.2.1:8024', connected: true, since: 0, text: 'connected to 192.0.2.1:8024' },
    entries: [],
    visitors: [],
  };
  expect(await agentStatus(undefined, true)).toBeUndefined();
  const close = await serveStatus(directory, () => Promise.resolve(snapshot), new LogRecorder().logger);
  expect(await agentStatus(undefined, true)).toBe(`${JSON.stringify(snapshot)}\n`);
  expect(await agentStatus(snapshot.config, false)).toBe(
    `agent ${process.pid}, version 1.2.3, configuration /etc/adit/agent.toml\n  connected to 192.0.2.1:8024, since 1970-01-01T00:00:00.000Z\n`,
  );
  expect(await agentStatus('/etc/adit/other.toml', false)).toBeUndefined();
  await close();
  expect(await agentStatus(undefined, true)).toBeUndefined();
});
