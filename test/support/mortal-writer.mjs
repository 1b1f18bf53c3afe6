import { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';
import workers from 'node:worker_threads';

// Loaded before a server (--import): SIGUSR2 ends the worker that writes to the database, as a fault in the driver would.
const { Worker } = workers;
workers.Worker = class extends Worker {
  constructor(program, options) {
    super(program, options);
    if (options?.name === 'database writer') process.once('SIGUSR2', () => this.terminate());
  }
};
syncBuiltinESMExports();
