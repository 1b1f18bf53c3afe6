import { afterEach } from '@jest/globals';
import pino from 'pino';
import { AgentSession, type AgentSessionStart } from '../../src/engine/bridge/agent-session.ts';
import { agentInfoSchema } from '../../src/wire/agent-messages.ts';
import { ControlQueue } from '../../src/wire/control-queue.ts';
import { EmptySocket } from './empty-socket.ts';

const sockets: EmptySocket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** The server's side of an agent's session; what is not given does nothing. */
export function startSession(socket: EmptySocket, given: Partial<AgentSessionStart> = {}): AgentSession {
  return new AgentSession({
    id: '1',
    key: Buffer.alloc(32),
    socket,
    log: pino({ level: 'silent' }),
    // What other tests have sent makes no message wait.
    mux: { heartbeatMs: 60_000, controlQueue: new ControlQueue(Number.POSITIVE_INFINITY) },
    clientId: 1,
    info: agentInfoSchema.parse({}),
    onTraffic: () => undefined,
    onHealth: () => undefined,
    overview: () => [],
    records: undefined,
    onDoubt: undefined,
    onLeaving: () => undefined,
    onGone: () => undefined,
    ...given,
  });
}

/** The session of an agent that says nothing. @param info of the agent, beside its version and local address */
export function sessionOf(address: string, version: string, secure: boolean, info: object = {}): AgentSession {
  class Socket extends EmptySocket {
    override readonly remoteAddress = address;
    readonly channelSecret = secure ? () => Buffer.from('secret') : undefined;
  }
  const socket = new Socket();
  sockets.push(socket);
  return startSession(socket, { info: agentInfoSchema.parse({ version, localAddress: `local ${version}`, ...info }) });
}
