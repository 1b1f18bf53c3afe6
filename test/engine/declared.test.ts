import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { Declarer } from '../../src/agent/declarer.ts';
import type { AgentRecords, Declarations } from '../../src/engine/face.ts';
import { DECLARED_AT_ONCE } from '../../src/wire/declared.ts';
import { keyIdOf, proveHandshake } from '../../src/wire/handshake.ts';
import { Mux } from '../../src/wire/mux.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { declaredTunnelOf } from '../support/declared-entries.ts';
import { eventually } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { CLIENT, fresh, launchAgent, startAgent, startEngine, type TestEngine } from '../support/tunnel.ts';

const ALLOWED = { ...CLIENT, configAllowed: true };
const TUNNEL = declaredTunnelOf();

/** Keeps what is declared until the test answers. */
class Kept implements Declarations {
  readonly names: string[] = [];
  readonly entries: unknown[] = [];
  closed = 0;
  answer: (() => void) | undefined;

  /** The clients and addresses of the agents. */
  readonly opened: unknown[] = [];

  open(...agent: [clientId: number, address: string]): AgentRecords {
    this.opened.push(agent);
    const wait = (name: string) =>
      new Promise<{ id: number; port: number; error: string }>((resolve) => {
        this.names.push(name);
        this.answer = () => resolve({ id: 1, port: 80, error: '' });
      });
    return {
      declare: (entry) => {
        this.entries.push(entry);
        return wait(entry.name);
      },
      withdraw: (_, name) => wait(name),
      close: () => {
        this.closed++;
      },
    };
  }
}

/** Something that proves the vkey and then says what it likes. */
async function session({ bridge }: TestEngine, configFile: boolean) {
  const socket = await netBackend.connect({ ...bridge, timeoutMs: 1000 });
  await proveHandshake(socket, { timeoutMs: 1000, role: 'mux', keyId: keyIdOf(CLIENT.vkey), key: CLIENT.vkey, connection: 0, info: { configFile } });
  const messages: unknown[] = [];
  let mux: Mux | undefined;
  const ended = new Promise<void>((resolve) => {
    mux = new Mux(socket, 'agent', { onOpen: (stream) => stream.reset(), onControl: (message) => messages.push(message), onClose: () => resolve() });
  });
  return { send: (message: object) => mux?.sendControl(message), messages, ended };
}

test('an agent with a configuration file waits for a server that is just starting', async () => {
  const server = await startEngine({ stored: { clients: [{ ...ALLOWED, ...fresh }] } });
  const log = new LogRecorder();
  const agent = launchAgent(server, { declarer: new Declarer({ log: log.logger }), random: () => 0 });
  const { msg } = await agent.log.line(/the server is just starting/);
  expect(msg).toMatch(/^refused by/);
  server.engine.keepDeclared(new Kept());
  await agent.log.line(/^connected to/);
});

test('what was declared ends with the session, and is declared again in the next', async () => {
  const server = await startEngine({ stored: { clients: [{ ...ALLOWED, ...fresh }] } });
  const kept = new Kept();
  server.engine.keepDeclared(kept);
  const log = new LogRecorder();
  const declarer = new Declarer({ log: log.logger });
  declarer.set([{ kind: 'tunnel', name: 'a', tunnel: TUNNEL }]);
  const declared = server.log.line(/agent connected/);
  const agent = await startAgent(server, { declarer, random: () => 0 });
  await declared;
  while (kept.names.length < 1) await new Promise(setImmediate);
  kept.answer?.();
  expect(await log.line(/^tunnel a: tcp on port 80/)).toMatchObject({ state: { event: 'established', id: 1, port: 80 } });
  await server.engine.apply({ kind: 'client', client: { ...ALLOWED, vkey: 'another' } });
  await agent.log.line(/vkey of the client was changed/);
  expect(kept.closed).toBe(1);
  await server.engine.apply({ kind: 'client', client: ALLOWED });
  while (kept.names.length < 2) await new Promise(setImmediate);
  expect([kept.names, kept.opened]).toEqual([['a', 'a'], [[CLIENT.id, '127.0.0.1'], [CLIENT.id, '127.0.0.1']]]);
});

test('an agent that takes no new connections any more still gets the answer to what it has declared', async () => {
  const server = await startEngine({ stored: { clients: [{ ...ALLOWED, ...fresh }] } });
  const kept = new Kept();
  server.engine.keepDeclared(kept);
  const agent = await session(server, true);
  agent.send({ type: 'tunnel', name: 'a', tunnel: TUNNEL });
  agent.send({ type: 'drain' });
  await server.log.line(/the agent takes no new connections/);
  kept.answer?.();
  await eventually(() => JSON.stringify(agent.messages), (messages) => messages.includes('"declared"'));
  expect(agent.messages).toContainEqual({ type: 'declared', kind: 'tunnel', name: 'a', id: 1, port: 80, error: '' });
});

test('an agent that declares more at once than it may is cut off, and nothing is kept of one without a file', async () => {
  const server = await startEngine({ stored: { clients: [{ ...ALLOWED, ...fresh }] } });
  const kept = new Kept();
  server.engine.keepDeclared(kept);
  const without = await session(server, false);
  without.send({ type: 'tunnel', name: 'a', tunnel: TUNNEL });
  await server.log.line(/a control message that this server does not know/);
  const flood = await session(server, true);
  for (let count = 0; count < 1000; count++) flood.send({ type: 'tunnel', name: `t${count}`, tunnel: TUNNEL });
  await flood.ended;
  expect(flood.messages).toContainEqual({ type: 'bye', code: 'too-much-declared', text: 'the agent declared more at once than a session may' });
  expect(kept.names).toHaveLength(DECLARED_AT_ONCE * 2);
  expect(kept.closed).toBe(1);
});

test('what an agent of version 0.1 declares is read as it was meant', async () => {
  const server = await startEngine({ node: undefined, stored: { clients: [{ ...ALLOWED, ...fresh }] } });
  const kept = new Kept();
  server.engine.keepDeclared(kept);
  const agent = await session(server, true);
  // Recorded from that version's declarer, with the example of its docs/agent.md.
  const recorded = readFileSync(new URL('declarations-0.1.jsonl', import.meta.url), 'utf8').trim().split('\n').map((line): { type: string; name: string } =>
    JSON.parse(line)
  );
  for (const [at, message] of recorded.entries()) {
    agent.send(message);
    while (kept.names.length <= at) await new Promise(setImmediate);
    kept.answer?.();
    while (agent.messages.length <= at) await new Promise(setImmediate);
    const kind = message.type === 'withdraw' ? 'tunnel' : message.type;
    expect(agent.messages[at]).toEqual({ type: 'declared', kind, name: message.name, id: 1, port: 80, error: '' });
  }
  // A key that came later has its default.
  const meant = recorded.filter(({ type }) => type !== 'withdraw').map(({ type, ...entry }) => ({ kind: type, ...entry }));
  expect(kept.entries).toMatchObject(meant);
  expect(kept.entries).toHaveLength(meant.length);
});

test('a declaration that cannot be read is answered with the field at fault, and its record stays; the log has one warning', async () => {
  const server = await startEngine({ node: undefined, stored: { clients: [{ ...ALLOWED, ...fresh }] } });
  const kept = new Kept();
  server.engine.keepDeclared(kept);
  const agent = await session(server, true);
  const answers = async (count: number) => {
    while (agent.messages.length < count) await new Promise(setImmediate);
    return agent.messages;
  };
  agent.send({ type: 'tunnel', name: 'a', tunnel: TUNNEL });
  while (kept.names.length < 1) await new Promise(setImmediate);
  kept.answer?.();
  await answers(1);
  const { remark: _, ...older } = TUNNEL;
  agent.send({ type: 'tunnel', name: 'a', tunnel: older });
  agent.send({ type: 'tunnel', name: 'b', tunnel: { ...TUNNEL, mode: 'quic', password: 'swordfish' } });
  agent.send({ type: 'host', name: 'c' });
  agent.send({ type: 'withdraw', kind: 'user', name: 'd' });
  agent.send({ type: 'tunnel', name: '', tunnel: TUNNEL });
  agent.send({ type: 'news' });
  agent.send({ type: 'host', name: 'e', host: { host: 1 } });
  const error = 'the server cannot read the entry, since it may have another version than the agent: ';
  expect((await answers(5)).slice(1)).toEqual([
    { type: 'declared', kind: 'tunnel', name: 'a', id: 1, port: 80, error: `${error}tunnel.remark: Invalid input: expected string, received undefined` },
    { type: 'declared', kind: 'tunnel', name: 'b', id: 0, port: 0, error: expect.stringMatching(`^${error}tunnel.mode: Invalid option: expected one of `) },
    { type: 'declared', kind: 'host', name: 'c', id: 0, port: 0, error: `${error}host: Invalid input: expected object, received undefined` },
    { type: 'declared', kind: 'host', name: 'e', id: 0, port: 0, error: `${error}host.host: Invalid input: expected string, received number` },
  ]);
  expect(kept.names).toEqual(['a']);
  const lines = server.log.entries.filter(({ msg }) => /an entry that this server cannot read/.test(msg));
  expect(lines.map(({ level }) => level)).toEqual([40, 20, 20, 20, 20, 20]);
  expect(JSON.stringify(lines)).not.toContain('swordfish');
});
