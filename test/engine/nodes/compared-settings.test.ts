import { expect, test } from '@jest/globals';
import { ComparedSettings } from '../../../src/engine/nodes/compared-settings.ts';
import { LogRecorder } from '../../support/log-recorder.ts';

test('of two servers that were started in the same millisecond, the one whose name comes first is the older one, at both', () => {
  const { logger } = new LogRecorder();
  const said = (value: string) => ({ startedAt: 5, settings: { p2p_port: value } });
  const [a, b] = [new ComparedSettings('a', said('1'), logger), new ComparedSettings('b', said('2'), logger)];
  a.compare('b', b.own);
  b.compare('a', a.own);
  expect([a, b].map((one) => one.differences(() => true))).toEqual([
    [{ node: 'b', settings: ['p2p_port'], isOlder: false }],
    [{ node: 'a', settings: ['p2p_port'], isOlder: true }],
  ]);
});

test('a difference is logged when it begins, when it changes and when it ends, and counts while the other server can be reached', () => {
  const log = new LogRecorder();
  const compared = new ComparedSettings('own', { startedAt: 1, settings: { p2p_port: '1', allow_ports: '1' } }, log.logger);
  const hear = (settings: Readonly<Record<string, string>>, startedAt = 2) => compared.compare('other', { startedAt, settings });
  hear({ p2p_port: '1', allow_ports: '1' });
  hear({ p2p_port: '2' });
  hear({ p2p_port: '2', allow_ports: '1' });
  expect(compared.differences((node) => node !== 'other')).toEqual([]);
  hear({ p2p_port: '2', allow_ports: '2' });
  hear({ p2p_port: '1', allow_ports: '1' });
  expect(compared.differences(() => true)).toEqual([]);
  hear({ p2p_port: '1', allow_ports: '2' }, 0);
  expect(log.entries.map(({ level, node, settings }) => ({ level, node, settings }))).toEqual([
    { level: 40, node: 'other', settings: ['p2p_port'] },
    { level: 40, node: 'other', settings: ['p2p_port', 'allow_ports'] },
    { level: 30, node: 'other', settings: undefined },
    { level: 40, node: 'other', settings: ['allow_ports'] },
  ]);
  expect(log.entries.map(({ msg }) => msg.includes('this one, which was started later, is not ready'))).toEqual([false, false, false, true]);
});
