import { parentPort, workerData } from 'node:worker_threads';
import { guarded } from './exit-guard.ts';
import { failureOf } from './failure.ts';
import type { Answer, AnyRequest, IndexRequest, ReaderRequest, Request, WorkerSettings, WriterRequest } from './protocol.ts';
import type { Reply } from './reply.ts';

/* The program of a database worker. It loads nothing of Prisma, and only what its role needs, so that it is small and quick to start. */

const port = parentPort;
if (port === null) throw new Error('a database worker is started by worker-link.ts');

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own, from worker-link.ts
const { file, role, guard } = workerData as WorkerSettings;

const send = (answer: Answer) => port.postMessage(answer);

/** Its exit is the answer to `close`. */
const replyTo = (id: number, [what]: AnyRequest): Reply => ({
  resolve: (result) => what === 'close' ? port.close() : send([id, null, result]),
  reject: (error) => send([id, failureOf(error)]),
});

const later = (work: () => void) => guarded(guard, work);

if (role === 'writer') {
  const { Writer } = await import('./writer.ts');
  const writer = new Writer(file, later);
  port.on('message', ([id, request]: Request<WriterRequest>) => guarded(guard, () => writer.serve(request, replyTo(id, request))));
} else if (role === 'reader') {
  const { Reader } = await import('./reader.ts');
  const reader = new Reader(file, later);
  port.on('message', ([id, request]: Request<ReaderRequest>) => guarded(guard, () => reader.serve(request, replyTo(id, request))));
} else {
  const { SearchIndex } = await import('../search/search-index.ts');
  const { serveIndex } = await import('./index-server.ts');
  const index = new SearchIndex();
  port.on('message', ([id, request]: Request<IndexRequest>) => serveIndex(index, request, replyTo(id, request)));
}
send([0, null]);
