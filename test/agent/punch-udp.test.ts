import dgram from 'node:dgram';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { PathKey } from '../../src/agent/direct/path-key.ts';
import { punchUdp } from '../../src/agent/direct/punch-udp.ts';
import { Signal } from '../../src/agent/direct/signal.ts';
import { loadUdx } from '../../src/agent/direct/udx.ts';
import { stunMapped, stunRequest, stunResponse } from '../../src/wire/stun.ts';

test.each([['127.0.0.1', 4], ['::1', 6]] as const)('a server at %s is asked for the public address', async (host, family) => {
  const udx = await loadUdx();
  if (!udx) throw new Error('this machine has no UDX');
  const server = dgram.createSocket(family === 4 ? 'udp4' : 'udp6').bind(0, host);
  await once(server, 'listening');
  const signal = new Signal();
  const key = new PathKey('visitor', 'a password', { visitor: '11'.repeat(32), agent: '22'.repeat(32) });
  const attempt = punchUdp(udx, { ours: 1, theirs: 1 }, 1000, {
    role: 'visitor',
    key,
    signal,
    timeoutMs: 60_000,
    stun: { host, family, ports: [server.address().port] },
  });
  const outcome = attempt.then(() => 'open', String);
  const [request]: Buffer[] = await once(server, 'message');
  // It is one that such a server answers.
  expect(stunResponse(request ?? Buffer.alloc(0), { host, port: 7 })).toBeDefined();
  expect(stunMapped(Buffer.alloc(0), stunRequest())).toBeUndefined();
  signal.destroy();
  expect(await outcome).toContain('the peer ended the attempt');
  server.close();
});
