import { expect, test } from '@jest/globals';
import { eventuallyAsync } from '../support/eventually.ts';
import { serve, type ServeOptions } from '../support/served.ts';
import { closed, readAll, refusal, roundTrip, startEcho, visit } from '../support/target.ts';

/** A server that receives a signal to stop while a visitor is connected. */
async function stopping(options?: ServeOptions) {
  const served = await serve((await startEcho()).address, options);
  const visitor = await visit(served.tunnel.port);
  expect(await roundTrip(visitor, 'before')).toBe('before');
  served.server.child.kill('SIGTERM');
  await served.server.child.says(/stopping: open connections have 30 s/);
  return { ...served, visitor };
}

test.each<[string, ServeOptions]>([
  ['in the clear', {}],
  ['over TLS', { client: { crypt: 1 } }],
])('SIGTERM lets an open connection finish, refuses new ones, and ends with exit code 0, %s', async (_, options) => {
  const { server, tunnel, visitor } = await stopping(options);
  for (const port of [tunnel.port, server.httpPort]) await eventuallyAsync(() => refusal(port), (reason) => reason === 'ECONNREFUSED');
  expect(await roundTrip(visitor, 'during')).toBe('during');
  const rest = readAll(visitor);
  visitor.end('the last words');
  expect((await rest).toString()).toBe('the last words');
  expect(await server.child.exited).toEqual({ code: 0, signal: null });
});

test('a second signal ends the server at once', async () => {
  const { server, visitor } = await stopping();
  const cut = closed(visitor);
  server.child.kill('SIGTERM');
  expect(await server.child.exited).toEqual({ code: 1, signal: null });
  await cut;
});
