import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { SELF_TEST } from '../../src/own-program.ts';
import { BACKEND_NAMES } from '../../src/wire/backends.ts';
import { NODE_VERSIONS, nodeBinary } from '../support/node-binaries.ts';
import { programOf } from '../support/processes.ts';
import { serve } from '../support/served.ts';
import { echoThrough } from '../support/soak/transfer.ts';
import { startEcho, visit } from '../support/target.ts';

/** Through each tunnel, at the same time: some stay on the mux, some move to data connections. */
const TRANSFERS = [1, 1000, 70_000, 700_000, 3_000_000, 30_000_000];

describe.each(NODE_VERSIONS)('on Node %s', (version) => {
  test.each(BACKEND_NAMES)('the self-test of sockets by %s passes', async (name) => {
    const { stdout } = await promisify(execFile)(await nodeBinary(version), [programOf(), SELF_TEST, name]);
    expect(stdout).toBe('works');
  }, 300_000);

  test.each(['auto', ...BACKEND_NAMES])('a tunnel between a server and an agent passes everything on, with sockets by %s', async (sockets) => {
    const node = await nodeBinary(version);
    const { server, agent, tunnel } = await serve((await startEcho()).address, { node, environment: { ADIT_SOCKETS: sockets } });
    await Promise.all(TRANSFERS.map(async (bytes, seed) => echoThrough(await visit(tunnel.port), bytes, seed)));
    expect([server.child.over, agent.over]).toEqual([false, false]);
    expect(server.child.output).toMatch(sockets === 'auto' ? /sockets.*captured/ : new RegExp(`sockets.*${sockets}`));
  }, 300_000);
});
