import { expect, test } from '@jest/globals';
import { expectDrained, stopping } from '../support/stopping.ts';
import { closed } from '../support/target.ts';

// Short form: test/e2e/drain.test.ts

test('SIGTERM lets an open connection finish, refuses new ones, and ends with exit code 0, over TLS', async () => {
  await expectDrained({ client: { crypt: 1 } });
});

test('a second signal ends the server at once', async () => {
  const { server, visitor } = await stopping();
  const cut = closed(visitor);
  server.child.kill('SIGTERM');
  expect(await server.child.exited).toEqual({ code: 1, signal: null });
  await cut;
});
