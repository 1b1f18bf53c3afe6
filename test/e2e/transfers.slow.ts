import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Child } from '../support/child.ts';
import { sized } from '../support/endurance.ts';
import { programPath } from '../support/find-program.ts';
import { startVisitorProcess, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import type { ServeOptions } from '../support/served.ts';
import { serveFromOne } from '../support/served-from-one.ts';
import { sshPrograms, startSshd } from '../support/sshd.ts';
import { standardTransfers, transfer, transferTarget } from '../support/transfers.ts';

// Short form: test/engine/integrity.test.ts

const MB = 1024 * 1024;
const AT_ONCE = 4;

const largest = sized(2, 64);
const serve = serveFromOne();

test.each<[number, string, ServeOptions]>([
  [largest, 'in the clear', {}],
  [largest, 'over TLS', { client: { crypt: 1 } }],
  [largest, 'compressed', { client: { compress: 1 } }],
  [sized(1, 64), 'compressed over TLS', { client: { compress: 1 }, way: 'pinned' }],
])('36 streams of 1 byte to %d MB arrive as they were sent, both ways, with half closes and slow readers, %s', async (megabytes, _, options) => {
  const target = await transferTarget();
  const { tunnel, agent } = await serve(`127.0.0.1:${target.port}`, options);
  expect(agent.output.includes('over TLS')).toBe(options.way === 'pinned' || options.client?.['crypt'] === 1);
  const waiting = standardTransfers(megabytes * MB);
  expect(waiting).toHaveLength(36);
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await transfer(tunnel.port, next);
  }));
  expect(target.failures).toEqual([]);
  target.close();
});

describeWith(sshPrograms, 'ssh through a tunnel', () => {
  test('carries a terminal session, keystroke by keystroke', async () => {
    const sshd = await startSshd();
    const { tunnel } = await serve(`127.0.0.1:${sshd.port}`);
    const session = new Child(programPath('ssh'), ['-tt', ...sshd.login(tunnel.port), 'sh']);
    for (const key of 'PS1=; echo $((6 * 7))-answer\n') session.type(key);
    await session.says(/42-answer/);
    session.type('stty -echo; echo quiet-$((1 + 1))\n');
    await session.says(/quiet-2/);
    session.type('exit 3\n');
    expect(await session.exited).toEqual({ code: 3, signal: null });
  });

  test.each(['secret', 'p2p'] as const)('runs through a %s tunnel and its visitor', async (type) => {
    const sshd = await startSshd();
    const { server, clientId } = await serve(`127.0.0.1:${sshd.port}`);
    const password = `the password of the ${type} visitor`;
    await write(server, '/index/add/', { type, client_id: clientId, target: `127.0.0.1:${sshd.port}`, password });
    const { child, port } = await startVisitorProcess(server, type, password);
    // Directly where this machine's addresses allow it.
    if (type === 'p2p') await child.says(/direct path/);
    const command = new Child(programPath('ssh'), [...sshd.login(port), 'echo through $((6 * 7)); exit 3']);
    expect(await command.exited).toEqual({ code: 3, signal: null });
    expect(command.output).toBe('through 42\n');
  });

  test('carries what a command prints', async () => {
    const sshd = await startSshd();
    const { tunnel } = await serve(`127.0.0.1:${sshd.port}`);
    const command = new Child(programPath('ssh'), [...sshd.login(tunnel.port), `head -c ${4 * MB} /dev/zero | tr '\\0' x`]);
    expect(await command.exited).toEqual({ code: 0, signal: null });
    const hash = (text: string) => createHash('sha256').update(text).digest('hex');
    expect(hash(command.output)).toBe(hash('x'.repeat(4 * MB)));
  });
});
