import { expect, jest, test } from '@jest/globals';
import { ClientUsage } from '../../src/engine/limits/client-usage.ts';
import { keptBytes, Meter, Ticker } from '../../src/engine/limits/meter.ts';
import { CLIENT } from '../support/tunnel.ts';

function meter(): { ticker: Ticker; meter: Meter } {
  const ticker = new Ticker();
  return { ticker, meter: new Meter(ticker, 'tunnel', 1, { inletBytes: 1000, exportBytes: 5 }) };
}

test('totals continue from what was stored; the rate is that of the last whole second', () => {
  const { ticker, meter: m } = meter();
  m.countInlet(10);
  m.countExport(20);
  expect([m.inlet, m.export, m.rate]).toEqual([1010, 25, 0]);
  ticker.tick();
  expect(m.traffic).toMatchObject({ rate: 30, inletRate: 10, exportRate: 20 });
  m.countInlet(1);
  ticker.tick();
  expect(m.traffic).toMatchObject({ rate: 1, inletRate: 1, exportRate: 0 });
  ticker.tick();
  expect([m.rate, m.inlet, m.export]).toEqual([0, 1011, 25]);
});

test('only meters that moved bytes are taken, and again while they move', () => {
  const { ticker, meter: m } = meter();
  expect(ticker.takeChanged().tunnel.size).toBe(0);
  m.countInlet(1);
  expect([...ticker.takeChanged().tunnel]).toEqual([m.id]);
  m.countInlet(1);
  expect([...ticker.takeChanged().tunnel]).toEqual([m.id]);
  ticker.tick();
  ticker.tick();
  expect([...ticker.takeChanged().tunnel]).toEqual([m.id]);
  expect(ticker.takeChanged().tunnel.size).toBe(0);
  ticker.stop();
});

test('a meter whose number of connections changes is taken, although nothing moves', () => {
  const { ticker, meter: m } = meter();
  for (const change of [1, -1]) {
    m.connections += change;
    expect([...ticker.takeChanged().tunnel]).toEqual([m.id]);
  }
  expect(ticker.takeChanged().tunnel.size).toBe(0);
});

test('a marked record is taken once', () => {
  const { ticker } = meter();
  ticker.mark('host', 3);
  expect(ticker.takeChanged()).toEqual({ client: new Set(), tunnel: new Set(), host: new Set([3]) });
  expect(ticker.takeChanged().host.size).toBe(0);
  ticker.stop();
});

test('a reset subtracts what was counted until then; the rate is only what moves', () => {
  const { ticker, meter: m } = meter();
  m.countInlet(100);
  m.countExport(40);
  ticker.takeChanged();
  m.reset({ inletBytes: 1070, exportBytes: 15 });
  expect([m.inlet, m.export]).toEqual([30, 30]);
  expect([...ticker.takeChanged().tunnel]).toEqual([m.id]);
  ticker.tick();
  expect(m.traffic).toMatchObject({ rate: 140, inletRate: 100, exportRate: 40 });
  m.reset({ inletBytes: 5000, exportBytes: 5000 });
  expect([m.inlet, m.export]).toEqual([0, 0]);
  m.countExport(7);
  ticker.tick();
  expect(m.rate).toBe(7);
  ticker.stop();
});

test('a reset is taken although nothing moves', () => {
  const { ticker, meter: m } = meter();
  m.reset({ inletBytes: 1, exportBytes: 1 });
  expect([...ticker.takeChanged().tunnel]).toEqual([m.id]);
  ticker.stop();
});

test('that the flow limit is passed is said once, and again when the limits change, and after a reset', () => {
  const ticker = new Ticker();
  let said = 0;
  const limits = { ...CLIENT, flowLimit: 10 };
  const client = new ClientUsage(ticker, limits, { inletBytes: 0, exportBytes: 0 }, () => said++);
  client.countInlet(10);
  expect(client.mayPass()).toBe(true);
  client.countInlet(1);
  expect([client.mayPass(), client.mayPass(), said]).toEqual([false, false, 1]);
  client.setLimits(limits);
  expect([client.mayPass(), said]).toEqual([false, 2]);
  client.reset({ inletBytes: 11, exportBytes: 0 });
  expect(client.mayPass()).toBe(true);
  client.countInlet(11);
  expect([client.mayPass(), said]).toEqual([false, 3]);
  ticker.stop();
});

test('another rate limit is for what waits, too; when there is none any more, all of it passes', () => {
  const client = new ClientUsage(new Ticker(), { ...CLIENT, rateLimit: 1 }, { inletBytes: 0, exportBytes: 0 }, () => undefined);
  const { rateLimit } = client;
  client.setLimits({ ...CLIENT, rateLimit: 2 });
  expect(client.rateLimit).toBe(rateLimit);
  const passed: number[] = [];
  rateLimit?.wait({ pass: (most) => passed.push(most) });
  client.setLimits({ ...CLIENT, rateLimit: 0 });
  expect([client.rateLimit, passed]).toEqual([undefined, [Number.POSITIVE_INFINITY]]);
});

test('the rate is that of the last second, for as long as bytes move', () => {
  jest.useFakeTimers();
  try {
    const { meter: m } = meter();
    const rates = [5, 7, 0].map((bytes) => {
      if (bytes > 0) m.countInlet(bytes);
      jest.advanceTimersByTime(1000);
      return m.rate;
    });
    expect(rates).toEqual([5, 7, 0]);
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('a record keeps what it has counted in one direction alone', () => {
  for (const [inletBytes, exportBytes] of [[5, 0], [0, 6], [0, 0], [7, 8]] as const) {
    expect(keptBytes({ inletBytes, exportBytes })).toEqual({ inletBytes, exportBytes });
  }
  const most = Number.MAX_SAFE_INTEGER;
  expect(keptBytes({ inletBytes: 2 ** 60, exportBytes: 2 ** 61 })).toEqual({ inletBytes: most, exportBytes: most });
});
