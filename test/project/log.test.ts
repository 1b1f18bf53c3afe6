import { expect, test } from '@jest/globals';
import { textLine } from '../../src/log.ts';

const time = '2026-11-21T09:30:00.000Z';
const line = (entry: object) => textLine(JSON.stringify({ level: 'info', time, ...entry }));

test('an entry is one line that people can read', () => {
  expect(line({ port: 8024, address: '127.0.0.1', note: 'two words', msg: 'listening' }))
    .toBe(`${time} INFO  listening port=8024 address=127.0.0.1 note="two words"\n`);
});

test('an error brings its stack', () => {
  expect(line({ msg: 'failed', err: { type: 'Error', message: 'no', stack: 'Error: no\n  at here' } }))
    .toBe(`${time} INFO  failed\n    Error: no\n      at here\n`);
});

test('what a stranger sent neither starts a line nor moves the cursor', () => {
  const printed = line({ msg: 'agent \n2026 ERROR forged \u001B[2J', name: 'x\r\n\u009B2J\u2028' });
  expect(printed.trimEnd()).toMatch(/^[\x20-\x7e]+$/);
  expect(printed).toContain('agent \\u000a2026 ERROR forged \\u001b[2J');
});
