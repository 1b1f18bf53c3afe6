import { expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { Ticker } from '../../../src/engine/limits/meter.ts';
import { Visitors } from '../../../src/engine/limits/visitors.ts';
import { Hosts } from '../../../src/engine/vhost/hosts.ts';
import { TargetConnection } from '../../../src/engine/vhost/target/target-connection.ts';
import { TargetPool } from '../../../src/engine/vhost/target/target-pool.ts';
import { Certificates } from '../../../src/engine/vhost/tls/certificates.ts';
import { EmptySocket } from '../../support/empty-socket.ts';
import { hostOf } from '../../support/vhost.ts';

test('each kept connection is closed when it has been idle for long enough, not earlier', () => {
  const hosts = new Hosts(new Ticker(), new Visitors(), new Certificates(pino({ level: 'silent' })), 5000);
  const host = hostOf({});
  hosts.set(host);
  const entry = hosts.get(host.id);
  if (!entry) throw new Error('there is a host');
  jest.useFakeTimers();
  try {
    const pool = new TargetPool(10, 10_000);
    const give = (): EmptySocket => {
      const socket = new EmptySocket();
      const target = new TargetConnection(socket, entry, '192.0.2.1');
      target.idleSince = performance.now();
      pool.give(target);
      return socket;
    };
    const first = give();
    jest.advanceTimersByTime(4000);
    const second = give();
    const closed: boolean[][] = [];
    for (const ms of [5000, 2000, 2000, 2000]) {
      jest.advanceTimersByTime(ms);
      closed.push([first.destroyed, second.destroyed]);
    }
    expect(closed).toEqual([[false, false], [true, false], [true, false], [true, true]]);
    expect(pool.has(entry, '192.0.2.1')).toBe(false);
    pool.close();
  } finally {
    jest.useRealTimers();
  }
});
