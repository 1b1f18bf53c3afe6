import { Worker } from 'node:worker_threads';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { packageFile } from '../../package-file.ts';
import { forgetHalt, guardMemory, halt, haltAtExit } from './exit-guard.ts';
import { inTimeSlice } from './answer-turns.ts';
import { adapterError, type Failure } from './failure.ts';
import type { Answer, Answers, AnyRequest, WorkerSettings } from './protocol.ts';

/** The compiled program, even when tests run the sources. */
const program = packageFile('dist/store/sqlite/worker.js');

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

type ResultOf<Asked> = Asked extends readonly [infer What, ...unknown[]] ? What extends keyof Answers ? Answers[What] : void : never;

/** A database worker, as the main thread sees it. */
export class WorkerLink<Asked extends AnyRequest> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #guard = guardMemory();
  readonly #started: Promise<void>;
  #last = 0;
  #lost: WorkerLostError | undefined;
  #closing = false;

  /** @param onLost called once if the worker dies without being closed: its last request may or may not have been carried out */
  constructor(file: string, role: WorkerSettings['role'], onLost: (error: Error) => void) {
    this.#worker = new Worker(fileURLToPath(program), {
      workerData: { file, role, guard: this.#guard } satisfies WorkerSettings,
      name: `database ${role}`,
      // It doesn't need the loaders and profilers of the main thread.
      execArgv: [],
    });
    this.#started = new Promise((resolve, reject) => this.#waiting.set(0, { resolve: () => resolve(), reject }));
    this.#worker.on('message', (answer: Answer) => inTimeSlice(() => this.#answered(answer)));
    haltAtExit(this.#guard);
    let cause: unknown;
    this.#worker.on('error', (error) => {
      cause = error;
    });
    this.#worker.on('exit', (code) => {
      forgetHalt(this.#guard);
      if (this.#closing) return;
      const reason = cause instanceof Error ? cause.message : `exit code ${code}`;
      this.#lost = new WorkerLostError(`the database ${role} has ended: ${reason}`, { cause });
      for (const { reject } of this.#waiting.values()) reject(this.#lost);
      this.#waiting.clear();
      onLost(this.#lost);
    });
  }

  /** Resolves when the file is open. @throws why it can't be */
  started(): Promise<void> {
    return this.#started;
  }

  /** Sends a request. @throws {StatementError} the database's error; {WorkerLostError} if the worker has died */
  ask<Request extends Asked>(...request: Request): Promise<ResultOf<Request>>;
  ask(...request: Asked): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#lost) return reject(this.#lost);
      if (this.#waiting.size === 0) this.#worker.ref();
      this.#waiting.set(++this.#last, { resolve, reject });
      this.#send(this.#last, request);
    });
  }

  /** Ends the worker after its current request; the others fail, as when a worker is lost. */
  async terminate(): Promise<void> {
    halt(this.#guard);
    await this.#worker.terminate();
  }

  /** Ends the worker after all earlier requests are done. */
  async close(): Promise<void> {
    if (this.#lost || this.#closing) return;
    this.#closing = true;
    this.#worker.ref();
    const exit = once(this.#worker, 'exit');
    this.#send(++this.#last, ['close']);
    await exit;
  }

  #send(id: number, request: AnyRequest): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
    this.#worker.postMessage([id, request]);
  }

  #answered([id, failure, result]: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    // An idle worker keeps no process alive.
    if (this.#waiting.size === 0 && !this.#closing) this.#worker.unref();
    if (failure === null) waiting?.resolve(result);
    else waiting?.reject(new StatementError(failure));
  }
}

/** A database worker is gone. */
export class WorkerLostError extends Error {
  override readonly name = 'WorkerLostError';
}

/** The error with which a database worker rejects a request. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }

  /** The error for Prisma; undefined = not an error of the database. */
  get adapterError(): ReturnType<typeof adapterError> {
    return adapterError(this.failure);
  }
}
