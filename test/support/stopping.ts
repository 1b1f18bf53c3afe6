import { expect } from '@jest/globals';
import { eventuallyAsync } from './eventually.ts';
import { serve, type ServeOptions } from './served.ts';
import { readAll, refusal, roundTrip, startEcho, visit } from './target.ts';

/** A server that receives a signal to stop while a visitor is connected. */
export async function stopping(options?: ServeOptions) {
  const served = await serve((await startEcho()).address, options);
  const visitor = await visit(served.tunnel.port);
  expect(await roundTrip(visitor, 'before')).toBe('before');
  served.server.child.kill('SIGTERM');
  await served.server.child.says(/stopping: open connections have 30 s/);
  return { ...served, visitor };
}

/** SIGTERM lets an open connection finish, refuses new ones, and ends the server with exit code 0. @returns what the server has printed */
export async function expectDrained(options?: ServeOptions): Promise<string> {
  const { server, tunnel, visitor } = await stopping(options);
  for (const port of [tunnel.port, server.httpPort]) await eventuallyAsync(() => refusal(port), (reason) => reason === 'ECONNREFUSED');
  expect(visitor.closed).toBe(false);
  expect(await roundTrip(visitor, 'during')).toBe('during');
  const rest = readAll(visitor);
  visitor.end('the last words');
  expect((await rest).toString()).toBe('the last words');
  expect(await server.child.exited).toEqual({ code: 0, signal: null });
  return server.child.output;
}
