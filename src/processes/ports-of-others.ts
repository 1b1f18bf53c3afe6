import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { OwnedPorts, SharedPorts, SharePort } from '../wire/shared-ports.ts';
import type { ProcessMessage, SupervisorMessage } from './messages.ts';

/** How long another process may take to give up a port that this one needs, in ms: it follows the log of changes. */
const GIVE_UP_MS = 2000;
/** How long an answer may take, in ms. None comes with a handle while this process cannot open any more files. */
const ANSWER_MS = 10_000;

/** The ports that this process has together with others, or instead of them. The process that has started all of them hands them out. */
export class PortsOfOthers implements SharedPorts, OwnedPorts {
  readonly #send: (message: ProcessMessage) => void;
  readonly #answerMs: number;
  readonly #questions = new Map<number, (answer: SupervisorMessage, handle: unknown) => void>();
  readonly #onGranted = new Map<string, () => void>();
  /** The ports that this process has, or has asked for at once. */
  readonly #owned = new Set<string>();
  #lastId = 0;

  constructor(send: (message: ProcessMessage) => void, answerMs = ANSWER_MS) {
    this.#send = send;
    this.#answerMs = answerMs;
  }

  get owned(): OwnedPorts {
    return this;
  }

  of(purpose: string): SharePort {
    return async (name, port) => {
      const host = name === '' || isIP(name) !== 0 ? name : (await lookup(name)).address;
      const place = { purpose, host, port };
      const { answer, handle } = await this.#ask((id) => ({ type: 'share', id, ...place })).catch((error: unknown) => {
        this.#send({ type: 'unshare', ...place });
        throw error;
      });
      if (answer.type !== 'shared' || answer.problem !== '' || !isClosable(handle)) {
        throw systemError(answer.type === 'shared' ? answer.problem : '', host, port);
      }
      const close = handle.close.bind(handle);
      handle.close = (...args) => {
        this.#send({ type: 'unshare', ...place });
        close(...args);
      };
      return handle;
    };
  }

  async claim(name: string, onGranted: () => void): Promise<boolean> {
    this.#onGranted.set(name, onGranted);
    const { answer } = await this.#ask((id) => ({ type: 'claim', id, name, now: false }));
    const owned = answer.type === 'claimed' && answer.owned;
    if (owned) this.#granted(name);
    return owned;
  }

  async claimNow(name: string): Promise<boolean> {
    if (this.#owned.has(name)) return false;
    this.#owned.add(name);
    let onGranted: () => void = () => undefined;
    const granted = new Promise<boolean>((resolve) => {
      onGranted = () => resolve(true);
    });
    this.#onGranted.set(name, onGranted);
    const { answer } = await this.#ask((id) => ({ type: 'claim', id, name, now: true })).catch((error: unknown) => {
      this.release(name);
      throw error;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), GIVE_UP_MS).unref();
    });
    const owned = answer.type === 'claimed' && answer.owned || await Promise.race([granted, late]);
    clearTimeout(timer);
    if (owned) this.#granted(name);
    else this.release(name);
    return owned;
  }

  release(name: string): void {
    this.#onGranted.delete(name);
    this.#owned.delete(name);
    this.#send({ type: 'release', name });
  }

  /** What the process that has started all says about ports. @param handle sent with the message */
  onMessage(message: Exclude<SupervisorMessage, { type: 'stop' }>, handle: unknown): void {
    if (message.type === 'granted') {
      const onGranted = this.#onGranted.get(message.name);
      if (onGranted) this.#granted(message.name);
      onGranted?.();
      return;
    }
    const answered = this.#questions.get(message.id);
    this.#questions.delete(message.id);
    if (answered) answered(message, handle);
    else if (isClosable(handle)) handle.close();
  }

  #granted(name: string): void {
    this.#onGranted.delete(name);
    this.#owned.add(name);
  }

  #ask(question: (id: number) => ProcessMessage): Promise<{ readonly answer: SupervisorMessage; readonly handle: unknown }> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const late = setTimeout(() => {
        this.#questions.delete(id);
        reject(Object.assign(new Error('the first process did not answer'), { code: 'ETIMEDOUT', syscall: 'listen' }));
      }, this.#answerMs);
      this.#questions.set(id, (answer, handle) => {
        clearTimeout(late);
        resolve({ answer, handle });
      });
      this.#send(question(id));
    });
  }
}

function systemError(code: string, host: string, port: number): Error {
  return Object.assign(new Error(`listen ${code}: ${host}:${port}`), { code, syscall: 'listen', address: host, port });
}

function isClosable(handle: unknown): handle is { close(...args: unknown[]): void } {
  return typeof handle === 'object' && handle !== null && typeof Reflect.get(handle, 'close') === 'function';
}
