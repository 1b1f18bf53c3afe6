import { networkInterfaces, tmpdir } from 'node:os';
import { afterAll, describe, expect, test } from '@jest/globals';
import { capturedBackend } from '../../src/wire/captured-backend.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { onreadBackend } from '../../src/wire/onread-socket.ts';
import { carry } from '../support/carry.ts';
import { endurance, sized } from '../support/endurance.ts';
import { eventually } from '../support/eventually.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { type Seen, standardStreams } from '../support/streams.ts';
import { openWays } from '../support/stream-ways.ts';
import { CLIENT, fresh, startAgent, startEngine } from '../support/tunnel.ts';

// Short form: test/engine/integrity.test.ts

afterAll(removeScratchDirectories);

/** Streams move to connections of their own from 512 KB on. */
const STREAMS = standardStreams(sized(800_000, 4_000_000));
/** A direct path needs an address that leads from the machine to itself and is not the loopback's. */
const direct = Object.values(networkInterfaces()).some((list) => list?.some(({ internal, family }) => !internal && family === 'IPv4'));

const backends = [netBackend, onreadBackend, await capturedBackend()];
const transports = [
  { transport: 'plain', crypt: false, compress: false },
  { transport: 'crypt', crypt: true, compress: false },
  { transport: 'compress', crypt: false, compress: true },
  { transport: 'both', crypt: true, compress: true },
];
const cases = backends.flatMap((sockets) => transports.map((each) => ({ ...each, sockets, backend: sockets.name })));

describe.each(cases.map((each, index) => ({ ...each, index })))('sockets by $backend, $transport', ({ sockets, crypt, compress, index }) => {
  test(
    `36 streams of 1 byte to ${STREAMS.at(-1)?.bytes} arrive whole ${
      endurance ? 'through each type of tunnel and host' : 'through tunnels of every type and hosts'
    }`,
    async () => {
      const server = await startEngine({ sockets, stored: { clients: [{ ...CLIENT, ...fresh, crypt, compress }] } });
      await startAgent(server, { sockets, allowFiles: [tmpdir()] });
      const seen: Seen = new Map();
      const ways = await openWays(server, { sockets, seen, direct });
      expect(STREAMS).toHaveLength(36);
      // The whole form: all streams through each way. The short one: each stream through one, another one in each case.
      const rounds = endurance
        ? ways.map((way) => STREAMS.map((stream) => ({ stream, way })))
        : [STREAMS.map((stream, n) => ({ stream, way: ways[(n + index) % ways.length] }))];
      for (const round of rounds) await carry(round, seen);
      const datagramVisitors = rounds.flat().filter(({ way }) => way?.name === 'udp').length;
      // Datagrams have no end: their visitors stay for a minute, and a direct path as long as its visitor.
      await eventually(() => server.engine.counts.visitors, (open) => open <= datagramVisitors + 1);
    },
    1_200_000,
  );
});
