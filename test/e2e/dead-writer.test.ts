import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { type ServerProcess, startAgent, startServer, write } from '../support/processes.ts';
import { graphql } from '../support/several-servers.ts';

afterEach(endChildren);

test('a server whose writing worker dies exits with one line, since it is unknown whether its last write is stored', async () => {
  const server = await startServer({ environment: { NODE_OPTIONS: `--import ${path.join(import.meta.dirname, '../support/mortal-writer.mjs')}` } });
  // A worker that is terminated within a statement takes the process with it, and a start writes: after this write, nothing is under way.
  await write(server, '/client/add/', { remark: 'last', vkey: 'the key of the agent' });
  const agent = await startAgent(server, 'the key of the agent');
  const connected = async (of: ServerProcess) => JSON.stringify(await graphql(of, '{ server { counts { clients { connected } } } }')).match(/\d+/)?.[0];
  expect(await connected(server)).toBe('1');
  const { child, dataDir } = server;
  child.kill('SIGUSR2');
  expect(await child.exited).toEqual({ code: 1, signal: null });
  expect(child.output).toMatch(/\nadit: the database writer has ended: exit code 1; this server ends\n$/);
  // What it could not store is known at the next start: no agent is connected.
  await agent.end();
  expect(await connected(await startServer({ dataDir }))).toBe('0');
});
