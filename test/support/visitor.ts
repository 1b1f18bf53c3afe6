import { afterEach } from '@jest/globals';
import { Visitor, type VisitorOptions } from '../../src/agent/visitor.ts';
import { LogRecorder } from './log-recorder.ts';

const running: Array<() => Promise<unknown>> = [];

afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

/** A visitor under test, its local port open. */
export interface TestVisitor {
  readonly visitor: Visitor;
  /** The local port. */
  readonly port: number;
  readonly log: LogRecorder;
}

/** Starts a visitor in this process without waiting for its session; it is stopped when the test is done. */
export async function launchVisitor(
  { bridge }: { readonly bridge: VisitorOptions['servers'][number] },
  options: Pick<VisitorOptions, 'password'> & Partial<VisitorOptions>,
): Promise<TestVisitor> {
  const log = new LogRecorder();
  const visitor = new Visitor({
    servers: [{ host: bridge.host, port: bridge.port }],
    type: 'secret',
    listen: { host: '127.0.0.1', port: 0 },
    log: log.logger,
    version: '0.0.1',
    ...options,
  });
  const { port } = await visitor.listen();
  const ran = visitor.run();
  running.push(async () => {
    await visitor.stop();
    await ran;
  });
  return { visitor, port, log };
}

/** Starts a visitor and waits until it is connected. */
export async function startVisitor(
  server: { readonly bridge: VisitorOptions['servers'][number] },
  options: Pick<VisitorOptions, 'password'> & Partial<VisitorOptions>,
): Promise<TestVisitor> {
  const started = await launchVisitor(server, options);
  await started.log.line(/^connected to/);
  return started;
}
