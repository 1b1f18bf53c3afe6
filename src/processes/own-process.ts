import process from 'node:process';
import type { SharedPorts } from '../wire/shared-ports.ts';
import { type ProcessMessage, type SupervisorMessage, supervisorMessageSchema } from './messages.ts';
import { PortsOfOthers } from './ports-of-others.ts';

/** The variable that tells a server process its number. Not a setting, so it does not begin with ADIT_. */
export const NUMBER_VARIABLE = 'NUMBER_OF_ADIT_PROCESS';

/** This process as one of several servers on this machine (ADIT_PROCESSES). */
export interface OwnProcess {
  /** From 1 on. */
  readonly number: number;
  readonly ports: SharedPorts;
  /** Resolves when this process is to drain and end. */
  readonly stopping: Promise<void>;
  /** All its ports are open. @param text the ready message of a server @param line what this process is among the others */
  ready(text: string, line: string): void;
  /** This process has nothing more to do: it ends when nothing is open any more. */
  end(): void;
}

/** This process among several; undefined = it is the only one, or the one that starts the others. It ends when that one ends, whatever happens to it. */
export function ownProcess(environment: NodeJS.ProcessEnv): OwnProcess | undefined {
  const number = Number(environment[NUMBER_VARIABLE]);
  const sendRaw = process.send?.bind(process);
  if (!Number.isInteger(number) || number < 1 || sendRaw === undefined) return undefined;
  delete environment[NUMBER_VARIABLE]; // not for programs that this one starts
  const endAtOnce = (): never => process.exit(1);
  process.on('disconnect', endAtOnce);
  // Ctrl-C and systemd signal every process. The one that has started this one says what to do.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  const send = (message: ProcessMessage): void => void sendRaw(message);
  const ports = new PortsOfOthers(send);
  const stopping = new Promise<void>((resolve) => {
    const onMessage = (message: SupervisorMessage, handle: unknown): void => {
      if (message.type === 'stop') resolve();
      else ports.onMessage(message, handle);
    };
    process.on('message', (message, handle: unknown) => onMessage(supervisorMessageSchema.parse(message), handle));
  });
  const { WATCHDOG_USEC } = environment;
  const alive = WATCHDOG_USEC === undefined ? undefined : setInterval(() => send({ type: 'alive' }), Number(WATCHDOG_USEC) / 3000).unref();
  const end = (): void => {
    clearInterval(alive); // a message that nobody receives would end this process at once
    process.off('disconnect', endAtOnce);
    process.disconnect();
  };
  return { number, ports, stopping, ready: (text, line) => send({ type: 'ready', text, line }), end };
}
