import { parentPort, workerData } from 'node:worker_threads';
import { guarded } from './exit-guard.ts';
import { failureOf } from './failure.ts';
import type { Answer, ReaderRequest, Request, WorkerSettings, WriterRequest } from './protocol.ts';
import { Reader } from './reader.ts';
import { Writer } from './writer.ts';

/* The program of a database worker. It loads nothing of Prisma, so that it is small and quick to start. */

const port = parentPort;
if (port === null) throw new Error('a database worker is started by worker-link.ts');

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own, from worker-link.ts
const { file, role, guard } = workerData as WorkerSettings;

const send = (answer: Answer) => port.postMessage(answer);

/** Ends the worker once the connections are closed: its exit is the answer. */
const end = () => port.close();

if (role === 'writer') {
  const writer = new Writer(file, (work) => guarded(guard, work));
  port.on('message', ([id, request]: Request<WriterRequest>) => guarded(guard, () => writer.serve(request, {
    resolve: (result) => request[0] === 'close' ? end() : send([id, null, result]),
    reject: (error) => send([id, failureOf(error)]),
  })));
} else {
  const reader = new Reader(file);
  port.on('message', ([id, request]: Request<ReaderRequest>) => guarded(guard, () => {
    try {
      const result = reader.serve(request);
      if (request[0] === 'close') end();
      else send([id, null, result]);
    } catch (error) {
      send([id, failureOf(error)]);
    }
  }));
}
send([0, null]);
