import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Request, Response } from 'express';
import { packageFile } from '../package-file.ts';

/** The editor's page, ready to send. */
export interface GraphiqlPage {
  readonly html: Uint8Array;
  readonly zipped: Uint8Array;
  /** Its entity tag. */
  readonly tag: string;
  /** Its Content-Security-Policy. */
  readonly policy: string;
}

/** The compiled program, even when tests run the sources. */
const program = packageFile('dist/http/graphiql-worker.js');

let made: Promise<GraphiqlPage> | undefined;

/**
 * Responds with the GraphiQL editor. The page contains 9 MB of script and is rarely requested, so it is built on the first
 * request, by a worker. It is self-contained, and may load nothing from other servers. All responses share its bytes.
 */
export async function sendGraphiql(request: Request, response: Response): Promise<void> {
  const { html, zipped, tag, policy } = await (made ??= makePage());
  const isZipped = request.acceptsEncodings('gzip') !== false;
  response.set({
    'Content-Security-Policy': policy,
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept, Accept-Encoding',
    ETag: isZipped ? tag.replace(/"$/, '-gzip"') : tag,
  }).type('html');
  if (isZipped) response.set('Content-Encoding', 'gzip');
  const body = isZipped ? zipped : html;
  response.send(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
}

async function makePage(): Promise<GraphiqlPage> {
  try {
    return await new Promise((resolve, reject) => {
      const worker = new Worker(fileURLToPath(program), { name: 'graphiql', execArgv: [] });
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', (code) => reject(new Error(`the worker for the GraphiQL page ended with exit code ${code}`)));
    });
  } catch (error) {
    made = undefined; // the next request tries again
    throw error;
  }
}
