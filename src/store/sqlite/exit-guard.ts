import process from 'node:process';

/** Indexes of the shared array. */
const STOPPING = 0;
const WORKING = 1;

/** How long the process's exit waits for a statement, in ms. Without this, Node would wait for it, too, and then the driver might abort. */
const WAIT_MS = 10_000;

/** Shared between a database worker and the main thread. */
export type GuardMemory = Int32Array<SharedArrayBuffer>;

/** Memory for a worker's guard. */
export function guardMemory(): GuardMemory {
  return new Int32Array(new SharedArrayBuffer(8));
}

/**
 * Inside a worker: runs code that calls the driver, unless the process is ending. Terminating a thread inside the driver's
 * code can crash the process (the package throws where that is not allowed).
 */
export function guarded(memory: GuardMemory, work: () => void): void {
  Atomics.store(memory, WORKING, 1);
  try {
    if (Atomics.load(memory, STOPPING) === 0) work();
  } finally {
    Atomics.store(memory, WORKING, 0);
    Atomics.notify(memory, WORKING);
  }
}

/** On the main thread: lets a worker finish its current work and start no more, so that it can be terminated. Blocks until then. */
export function halt(memory: GuardMemory): void {
  Atomics.store(memory, STOPPING, 1);
  Atomics.wait(memory, WORKING, 1, WAIT_MS);
}

const running = new Set<GuardMemory>();

/** Halts a worker before the process ends, for every kind of regular exit. */
export function haltAtExit(memory: GuardMemory): void {
  if (running.size === 0) process.on('exit', haltAll);
  running.add(memory);
}

/** The worker has ended. */
export function forgetHalt(memory: GuardMemory): void {
  running.delete(memory);
  if (running.size === 0) process.off('exit', haltAll);
}

function haltAll(): void {
  for (const memory of running) halt(memory);
}
