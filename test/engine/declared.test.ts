import { expect, test } from '@jest/globals';
import { Declarer } from '../../src/agent/declarer.ts';
import type { AgentRecords, Declarations } from '../../src/engine/face.ts';
import { DECLARED_AT_ONCE, type DeclaredTunnel } from '../../src/wire/declared.ts';
import { keyIdOf, proveHandshake } from '../../src/wire/handshake.ts';
import { Mux } from '../../src/wire/mux.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { CLIENT, fresh, launchAgent, startAgent, startEngine, type TestEngine } from '../support/tunnel.ts';

const ALLOWED = { ...CLIENT, configAllowed: true };
const TUNNEL: DeclaredTunnel = { mode: 'tcp', port: 0, serverIp: '', targets: ['127.0.0.1:1'], password: '', localPath: '', stripPrefix: '', proxyProtocol: '', remark: '' };

/** Keeps what is declared until the test answers. */
class Kept implements Declarations {
  readonly names: string[] = [];
  closed = 0;
  answer: (() => void) | undefined;

  open(): AgentRecords {
    const wait = (name: string) => new Promise<{ id: number; port: number; error: string }>((resolve) => {
      this.names.push(name);
      this.answer = () => resolve({ id: 1, port: 80, error: '' });
    });
    return { declare: ({ name }) => wait(name), withdraw: (_, name) => wait(name), close: () => { this.closed++; } };
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
  expect(kept.names).toEqual(['a', 'a']);
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
