import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import { buildSync } from 'esbuild';
import { SELF_TEST } from '../../src/own-program.ts';
import type { BackendName } from '../../src/wire/backends.ts';
import { chooseSockets } from '../../src/wire/choose-sockets.ts';
import { SelfTests } from '../../src/wire/self-tests.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import type { ByteSocket, SocketBackend } from '../../src/wire/socket.ts';
import { socketTrials } from '../../src/wire/socket-trials.ts';
import { isShort } from '../support/endurance.ts';

const root = path.resolve(import.meta.dirname, '../..');
const ownProgram = path.join(root, 'dist/main.js');

describe('the way to get sockets', () => {
  const none = () => undefined;
  /** In place of the self-test: `does` is said of the way in `process.argv[1]`. */
  const scripted = (does: string) => [process.execPath, '-e', does];

  test.each(['net', 'onread', 'captured'] as const)('is %s when that is asked for', async (name) => {
    expect((await chooseSockets(name, new SelfTests([]), none)).name).toBe(name);
  });

  test('is captured when it is left to the program, whose self-test passes on this Node', async () => {
    const refused: string[] = [];
    const { name } = await chooseSockets('auto', new SelfTests([process.execPath, ownProgram, SELF_TEST]), (problem) => refused.push(problem));
    expect({ name, refused }).toEqual({ name: 'captured', refused: [] });
  });

  test.each([
    ['aborts', 'process.abort()', 'onread'],
    ['fails', 'process.exitCode = 1', 'onread'],
    ['says something else', 'console.log("nothing")', 'onread'],
  ])('is the next one when the self-test of the fastest %s', async (_, does, expected) => {
    const refused: string[] = [];
    const command = scripted(`if (process.argv[1] === 'captured') ${does}; else process.stdout.write('works')`);
    expect((await chooseSockets('auto', new SelfTests(command), (problem) => refused.push(problem))).name).toBe(expected);
    expect(refused).toEqual([expect.stringMatching(/^sockets are not had by captured, which is faster: ./)]);
  });

  test('is not tested again when it has passed before, and only a test that passes is remembered', async () => {
    const passed = new Set<BackendName>();
    const failing = scripted('process.exitCode = 1');
    const passing = scripted('process.stdout.write("works")');
    expect((await chooseSockets('auto', new SelfTests(failing, passed), none)).name).toBe('net');
    expect([...passed]).toEqual([]);
    expect((await chooseSockets('auto', new SelfTests(passing, passed), none)).name).toBe('captured');
    expect([...passed]).toEqual(['captured']);
    expect((await chooseSockets('auto', new SelfTests(failing, passed), none)).name).toBe('captured');
  });

  test('is net when no self-test can be run; each was tried once', async () => {
    const refused: string[] = [];
    const tests = new SelfTests(['/nowhere/node']);
    tests.begin();
    const begun = tests.problemOf('captured');
    expect((await chooseSockets('auto', tests, (problem) => refused.push(problem))).name).toBe('net');
    expect(refused.map((problem) => problem.split(' ')[5])).toEqual(['captured,', 'onread,']);
    expect(tests.problemOf('captured')).toBe(begun);
  });
});

if (!isShort) {
  describe('the self-test', () => {
    test.each(['net', 'onread', 'captured'])('passes for %s', async (name) => {
      const { stdout } = await promisify(execFile)(process.execPath, [ownProgram, SELF_TEST, name]);
      expect(stdout).toBe('works');
    });

    test('is a role of the program when that is a single file', async () => {
      // Beside node_modules: what is made for one machine is in no bundle.
      const bundle = path.join(root, '.cache', `bundle-${process.pid}.mjs`);
      buildSync({ entryPoints: [ownProgram], outfile: bundle, bundle: true, format: 'esm', platform: 'node', packages: 'external', logLevel: 'silent' });
      const { stdout } = await promisify(execFile)(process.execPath, [bundle, SELF_TEST, 'captured']);
      rmSync(bundle);
      expect(stdout).toBe('works');
    });

    const hidden: ByteSocket[] = [];
    afterEach(() => {
      for (const socket of hidden.splice(0)) socket.destroy();
    });

    /** Sockets with something wrong. */
    function wrong(change: (socket: ByteSocket) => Partial<ByteSocket>): SocketBackend {
      const changed = (socket: ByteSocket): ByteSocket => {
        hidden.push(socket);
        const changes = change(socket);
        return new Proxy(socket, {
          get(target, key) {
            const value: unknown = Reflect.get(key in changes ? changes : target, key);
            return typeof value === 'function' ? (...args: unknown[]): unknown => Reflect.apply(value, target, args) : value;
          },
        });
      };
      return {
        name: 'wrong',
        dial: (options, onDialled) => netBackend.dial(options, (outcome) => onDialled(outcome instanceof Error ? outcome : changed(outcome))),
        connect: async (options) => changed(await netBackend.connect(options)),
        listen: (options) => netBackend.listen({ ...options, onSocket: (socket) => options.onSocket(changed(socket)) }),
        secured: (...of) => changed(netBackend.secured(...of)),
      };
    }

    test.each<readonly [what: string, trial: string, change: (socket: ByteSocket) => Partial<ByteSocket>]>([
      ['change bytes', 'both directions, pauses, half close', (socket) => ({ write: (chunk, taken) => socket.write(Buffer.from(chunk).fill(0), taken) })],
      ['end both directions at once', 'both directions, pauses, half close', (socket) => ({ end: () => socket.destroy() })],
      ['hide what is pending', 'back-pressure', () => ({ pending: 0 })],
      ['forget what was read too far', 'handing over', () => ({ unread: () => undefined })],
      ['close cleanly instead of a reset', 'resets', (socket) => ({ destroy: () => socket.destroy() })],
    ])('finds out sockets that %s', async (_, trial, change) => {
      await expect(socketTrials[trial]?.(wrong(change))).rejects.toBeInstanceOf(Error);
    });
  });
}
