import { expect, jest, test } from '@jest/globals';
import { createLogs, textLine } from '../../src/log.ts';
import { logModules, parseLogLevels } from '../../src/rules/log-levels.ts';

const time = '2026-11-21T09:30:00.000Z';
const line = (entry: object) => textLine(JSON.stringify({ level: 'info', time, ...entry }));

test('an entry is one line that people can read', () => {
  expect(line({ port: 8024, address: '127.0.0.1', note: 'two words', msg: 'listening' }))
    .toBe(`${time} INFO  listening port=8024 address=127.0.0.1 note="two words"\n`);
});

test('a module is named before its text', () => {
  expect(line({ module: 'bridge', port: 1, msg: 'agent connected' })).toBe(`${time} INFO  bridge: agent connected port=1\n`);
});

test("each module's log has its own level, and its children have it too", () => {
  const write = jest.spyOn(process.stderr, 'write').mockImplementation(() => true);
  try {
    const logs = createLogs({ logLevel: parseLogLevels('engine:debug,store:error,warn'), logFormat: 'text' });
    for (const module of logModules) {
      const log = logs(module).child({ clientId: 1 });
      for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level](`at ${level}`);
    }
    const written = write.mock.calls.map(([text]) => String(text).replace(/^\S+ \w+ +/, '').trimEnd());
    const levels = { engine: ['debug', 'info', 'warn', 'error'], store: ['error'], others: ['warn', 'error'] };
    expect(written).toEqual(
      logModules.flatMap((module) =>
        (module === 'engine' || module === 'store' ? levels[module] : levels.others).map((level) => `${module}: at ${level} clientId=1`)
      ),
    );
  } finally {
    write.mockRestore();
  }
});

test('entries go to stderr, in lines of JSON with the same fields if the format is json', () => {
  const [out, err] = [process.stdout, process.stderr].map((stream) => jest.spyOn(stream, 'write').mockImplementation(() => true));
  try {
    for (const logFormat of ['text', 'json'] as const) createLogs({ logLevel: parseLogLevels('info'), logFormat })('bridge').info({ port: 1 }, 'listening');
    const [text = '', json = ''] = err?.mock.calls.map(([written]) => String(written)) ?? [];
    expect(text).toMatch(/^\S+ INFO {2}bridge: listening port=1\n$/);
    expect(JSON.parse(json)).toEqual({ time: expect.any(String), level: 'info', module: 'bridge', msg: 'listening', port: 1 });
    expect([json.indexOf('\n'), err?.mock.calls.length, out?.mock.calls]).toEqual([json.length - 1, 2, []]);
  } finally {
    out?.mockRestore();
    err?.mockRestore();
  }
});

test('an error brings its stack', () => {
  expect(line({ msg: 'failed', err: { type: 'Error', message: 'no', stack: 'Error: no\n  at here' } }))
    .toBe(`${time} INFO  failed\n    Error: no\n      at here\n`);
});

test('external text neither starts a line nor moves the cursor', () => {
  const printed = line({ msg: 'agent \n2026 ERROR forged \u001B[2J', name: 'x\r\n\u009B2J\u2028' });
  expect(printed.trimEnd()).toMatch(/^[\x20-\x7e]+$/);
  expect(printed).toContain('agent \\u000a2026 ERROR forged \\u001b[2J');
});

test('secrets are left out of entries, at any depth that entries have', () => {
  const write = jest.spyOn(process.stderr, 'write').mockImplementation(() => true);
  try {
    const log = createLogs({ logLevel: parseLogLevels('info'), logFormat: 'text' })('http');
    for (const key of ['authKey', 'auth_key', 'authCryptKey', 'adminPassword', 'password', 'vkey', 'authorization', 'cookie', 'databaseUrl']) {
      const secret = { [key]: 'hush' };
      log.info({ ...secret, one: secret, another: { two: secret } }, key);
    }
    const lines = write.mock.calls.map(([text]) => String(text));
    expect(lines.filter((text) => text.includes('hush') || text.split('(secret)').length !== 4)).toEqual([]);
    expect(lines).toHaveLength(9);
  } finally {
    write.mockRestore();
  }
});

test('changes of state are lines of JSON on stdout if they are asked for, and all else stays on stderr', () => {
  const [out, err] = [process.stdout, process.stderr].map((stream) => jest.spyOn(stream, 'write').mockImplementation(() => true));
  const printed = (spy = out) => spy?.mock.calls.splice(0).map(([text]) => String(text)) ?? [];
  try {
    const log = (states: boolean, logFormat: 'text' | 'json' = 'text') => createLogs({ logLevel: parseLogLevels('info'), logFormat }, states)('agent');
    const write = (to: ReturnType<typeof log>) => {
      to.info({ state: { state: 'connected' }, server: 'a:1' }, 'connected to a:1');
      to.warn('another entry');
      return [printed(), printed(err)];
    };
    const [states, others] = write(log(true));
    expect(states?.map((text) => JSON.parse(text))).toEqual([{ time: expect.any(String), server: 'a:1', state: 'connected', text: 'connected to a:1' }]);
    expect(others).toEqual([expect.stringMatching(/ WARN {2}agent: another entry\n$/)]);
    const [json, otherJson] = write(log(true, 'json'));
    expect([json?.length, otherJson?.map((text) => JSON.parse(text))]).toEqual([1, [expect.objectContaining({ level: 'warn', msg: 'another entry' })]]);
    const [none, all] = write(log(false));
    expect([none, all]).toEqual([[], [expect.stringMatching(/ connected to a:1 server=a:1\n$/), expect.stringContaining('another entry')]]);
  } finally {
    out?.mockRestore();
    err?.mockRestore();
  }
});
