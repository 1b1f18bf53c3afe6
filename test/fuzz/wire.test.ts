import fc from 'fast-check';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { PathKey, Probe } from '../../src/agent/direct/path-key.ts';
import { Signal } from '../../src/agent/direct/signal.ts';
import { Batch } from '../../src/wire/batch.ts';
import { DatagramBudget, DatagramSocket } from '../../src/wire/datagram-socket.ts';
import { declaredHost, declaredTunnel } from '../../src/wire/declaration.ts';
import { decodeDialResult } from '../../src/wire/dial-result.ts';
import { directMessageSchema } from '../../src/wire/direct-messages.ts';
import { Frame, FrameReader, type FrameType, ProtocolError } from '../../src/wire/frames.ts';
import { refusalSchema } from '../../src/wire/handshake-error.ts';
import { MessageSocket } from '../../src/wire/message-socket.ts';
import { decodeOpen, encodeOpen, type OpenRequest } from '../../src/wire/open.ts';
import { agentInfoSchema, agentMessageSchema } from '../../src/wire/agent-messages.ts';
import { serverMessageSchema, sessionMessageSchema, welcomeSchema } from '../../src/wire/session-messages.ts';
import { stunMapped, stunRequest, stunResponse } from '../../src/wire/stun.ts';
import { fromVisitorSchema, toVisitorSchema, visitorInfoSchema, visitWelcomeSchema } from '../../src/wire/visit-messages.ts';
import { bytes } from '../support/fuzz/corpus.ts';
import { type ByteParser, damaged, FUZZ_MS, fuzz, fuzzed, noise } from '../support/fuzz/fuzz.ts';
import { frames, json, outcomesOf } from '../support/fuzz/wire-input.ts';
import { muxOutcome } from '../support/fuzz/mux-outcome.ts';

const schemas = {
  agentInfoSchema,
  welcomeSchema,
  sessionMessageSchema,
  serverMessageSchema,
  agentMessageSchema,
  directMessageSchema,
  visitorInfoSchema,
  visitWelcomeSchema,
  toVisitorSchema,
  fromVisitorSchema,
  refusalSchema,
  declaredTunnel,
  declaredHost,
};

const endpoint = fc.record({ host: fc.oneof(fc.ipV4(), fc.ipV6()), port: fc.integer({ min: 1, max: 65_535 }) });
const ours = stunRequest();
const key = (role: 'agent' | 'visitor'): PathKey => new PathKey(role, 'the password', { visitor: '01'.repeat(32), agent: '02'.repeat(32) });
const probes = Object.values(Probe).flatMap((kind) => [key('agent').probe(kind), key('visitor').probe(kind)]);
const targets = fc.array(fc.oneof(fc.constantFrom('127.0.0.1:80', '[::1]:1', 'x'), fc.string()), { minLength: 1, maxLength: 3 });
const request: fc.Arbitrary<OpenRequest> = fc.oneof(
  fc.record({ kind: fc.constantFrom('tcp' as const, 'udp' as const), targets }),
  fc.record({ kind: fc.constant('dial' as const), targets, timeoutMs: fc.integer({ min: 1, max: 3_600_000 }) }),
  fc.record({ kind: fc.constant('file' as const), path: fc.string(), stripPrefix: fc.string() }),
  fc.record({ kind: fc.constant('udpAny' as const) }),
);

const parsers: readonly ByteParser[] = [
  { name: 'frames', input: damaged(frames), read: (pieces) => outcomesOf(pieces) },
  { name: 'a session that gets frames', input: damaged(frames), read: (pieces) => muxOutcome(pieces) },
  { name: 'the payload of OPEN', input: fc.oneof(damaged(request.map(encodeOpen)), damaged(json)), whole: true, read: ([bytes]) => bytes && decodeOpen(bytes) },
  {
    name: 'messages of a session, as JSON',
    input: damaged(json),
    whole: true,
    refusal: SyntaxError,
    read: ([bytes]) => {
      const value: unknown = JSON.parse(String(bytes));
      for (const [name, schema] of Object.entries(schemas)) {
        const { data } = schema.safeParse(value);
        // What was read says the same again.
        if (data !== undefined) expect([name, schema.parse(JSON.parse(JSON.stringify(data)))]).toEqual([name, data]);
      }
    },
  },
  {
    name: 'what two sides of a direct path tell each other',
    input: damaged(fc.array(json, { maxLength: 3 }).map((all) => Buffer.concat(all.flatMap((one) => [one, Buffer.from('\n')])))),
    read: (pieces) => {
      const found: string[] = [];
      const signal = new Signal();
      signal.attach({ onData: () => undefined, onEnd: () => undefined, onDrain: () => undefined, onClose: () => found.push('closed') });
      for (const piece of pieces) signal.write(piece);
      signal.destroy();
      return found.length;
    },
  },
  {
    name: 'a message over a stream',
    input: noise,
    read: (pieces) => {
      const seen: unknown[] = [];
      const socket = new MessageSocket('', (message) => seen.push(message?.toString('hex')));
      for (const piece of pieces) socket.write(piece);
      socket.end();
      return seen;
    },
  },
  {
    name: 'datagrams over a stream',
    input: damaged(
      fc.array(noise, { maxLength: 4 }).map((all) => Buffer.concat(all.map((one) => Buffer.concat([Buffer.of(one.length >> 8, one.length & 255), one])))),
    ),
    read: (pieces) => {
      const seen: unknown[] = [];
      const socket = new DatagramSocket({
        remoteAddress: '',
        remotePort: 0,
        budget: new DatagramBudget(),
        onDatagram: (bytes) => seen.push(bytes.toString('hex')),
        onPeerDropped: (count) => seen.push(count),
        onClose: () => seen.push('closed'),
      });
      for (const piece of pieces) socket.write(piece);
      socket.destroy();
      return seen;
    },
  },
  { name: 'what became of a dial', input: noise, whole: true, read: ([bytes]) => decodeDialResult(bytes?.[0]) },
  {
    name: 'a STUN request',
    input: damaged(fc.constant(ours)),
    whole: true,
    read: ([bytes = ours]) => {
      const answer = stunResponse(bytes, { host: '192.0.2.1', port: 7 });
      // The server must not send more than it got: nobody is to use it against others.
      if (answer && answer.length > bytes.length) throw new Error('an answer that is longer than the request');
    },
  },
  {
    name: 'a STUN response',
    input: damaged(endpoint.map((from) => stunResponse(ours, from) ?? Buffer.alloc(0))),
    whole: true,
    read: ([bytes = ours]) => stunMapped(bytes, ours),
  },
  {
    name: 'probes of a direct path',
    input: damaged(fc.constantFrom(...probes)),
    whole: true,
    read: ([bytes = ours]) => {
      const said = key('agent').read(bytes);
      if (said !== undefined && !probes.some((probe) => probe.equals(bytes))) throw new Error('a probe that nobody with the password has made');
    },
  },
];

test.each(parsers.map((parser) => [parser.name, parser] as const))('%s: any bytes are read or refused, at once and however they are cut', (_, parser) => {
  expect(() => fuzzed(parser)).not.toThrow();
}, FUZZ_MS);

test('frames survive encoding and decoding', () => {
  fuzz(
    {
      name: 'frames that are written',
      input: fc.array(fc.record({ stream: fc.integer({ min: 1, max: 0xffff_ffff }), payload: noise }), { maxLength: 5 }),
      format: z.array(z.object({ stream: z.number(), payload: bytes })),
    },
    (all) => {
      const batch = new Batch();
      for (const { stream, payload } of all) batch.frame(Frame.OPEN, stream, payload);
      const seen: unknown[] = [];
      const reader = new FrameReader({
        onDataFrame: () => undefined,
        onFrame: (_type: FrameType, stream, payload) => seen.push([stream, payload.toString('hex')]),
      });
      batch.drainTo((bytes) => reader.push(bytes));
      if (JSON.stringify(seen) !== JSON.stringify(all.map(({ stream, payload }) => [stream, payload.toString('hex')]))) throw new ProtocolError('other frames');
    },
  );
}, FUZZ_MS);

test('requests to an agent survive encoding and decoding', () => {
  fuzz({ name: 'requests to an agent that are written', input: request.map(encodeOpen), format: bytes }, (encoded) => {
    const decoded = decodeOpen(encoded);
    if (!decoded || !encodeOpen(decoded).equals(encoded)) throw new Error('another request');
  });
}, FUZZ_MS);

test('addresses in STUN survive encoding and decoding', () => {
  fuzz({ name: 'addresses in STUN', input: endpoint, format: z.object({ host: z.string(), port: z.number() }) }, (from) => {
    const found = stunMapped(stunResponse(ours, from) ?? Buffer.alloc(0), ours);
    if (found?.port !== from.port || !stunResponse(ours, found)?.equals(stunResponse(ours, from) ?? Buffer.alloc(0))) throw new Error('another address');
  });
}, FUZZ_MS);
