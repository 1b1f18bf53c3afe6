import process from 'node:process';
import v8 from 'node:v8';
import vm from 'node:vm';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { WantedClient, WantedHost, WantedTunnel } from '../../src/engine/face.ts';
import { keptClient } from '../../src/engine/kept-client.ts';
import { type Sibling, siblings, withoutSibling, withSibling, withSiblingReplaced } from '../../src/engine/siblings.ts';
import { keptTunnel, withTargets } from '../../src/engine/tunnels/kept-tunnel.ts';
import { keptHost } from '../../src/engine/vhost/kept-host.ts';
import { CLIENT, fresh, startEngine, storedState, tunnelOf } from '../support/tunnel.ts';
import { hostOf } from '../support/vhost.ts';

const text = fc.constantFrom('', 'a', 'b');
const lines = fc.array(fc.constantFrom('10.0.0.1:80', '[::1]:81', 'name:82'), { maxLength: 3 });
const count = fc.constantFrom(0, 1, 2 ** 40);
const flag = fc.boolean();
const some = { numRuns: 100 };

const clients = fc.record<WantedClient>({
  id: count,
  vkey: text,
  enabled: flag,
  expiresAt: fc.constantFrom(null, 1, 2 ** 41),
  basicUser: text,
  basicPassword: text,
  crypt: flag,
  compress: flag,
  configAllowed: flag,
  rateLimit: count,
  flowLimit: count,
  maxConnections: count,
  blackIpList: text,
  ipWhite: flag,
  ipWhiteList: text,
  ipWhitePassword: text,
});
const tunnels = fc.record<WantedTunnel>({
  id: count,
  clientId: count,
  mode: text,
  enabled: flag,
  port: count,
  serverIp: text,
  targets: lines,
  localProxy: flag,
  password: text,
  localPath: text,
  stripPrefix: text,
  proxyProtocol: fc.constantFrom('', 'V1', 'V2'),
  accounts: fc.array(fc.record({ user: text, password: text }), { maxLength: 2 }),
});
const hosts = fc.record<WantedHost>({
  id: count,
  clientId: count,
  host: text,
  location: fc.constantFrom('/', '/x'),
  scheme: fc.constantFrom('all', 'http', 'https'),
  enabled: flag,
  targets: lines,
  localProxy: flag,
  headers: lines,
  hostChange: text,
  certificate: text,
  privateKey: text,
  autoHttps: flag,
  acme: flag,
  namedByAdmin: flag,
});

/** Checks that a kept record has every value of the record that it was made of. One field at a time differs from a record without rare settings, too. */
function keepsAll<Wanted extends object>(records: fc.Arbitrary<Wanted>, plain: Wanted, keep: (wanted: Wanted) => Wanted): void {
  const names = Object.keys(plain) as Array<keyof Wanted>;
  const same = (wanted: Wanted): void => {
    const kept = keep(wanted);
    expect(names.map((name) => kept[name])).toEqual(names.map((name) => wanted[name]));
    expect(keep(kept)).toBe(kept);
  };
  fc.assert(fc.property(records, same), some);
  fc.assert(fc.property(records, fc.constantFrom(...names), (wanted, name) => same({ ...plain, [name]: wanted[name] })), some);
}

test('clients, tunnels and hosts keep all their settings', () => {
  expect(Object.keys(hostOf({})).toSorted()).toEqual(Object.keys(fc.sample(hosts, 1)[0] ?? {}).toSorted());
  keepsAll(clients, CLIENT, keptClient);
  keepsAll(hosts, hostOf({}), keptHost);
  keepsAll(tunnels, tunnelOf({ serverIp: '' }), keptTunnel);
  fc.assert(fc.property(tunnels, lines, (wanted, targets) => expect(withTargets(keptTunnel(wanted), targets)).toEqual({ ...wanted, targets })), some);
});

class Item implements Sibling<Item> {
  next: Item | undefined;
  previous: Item | undefined;
}

test('a list of siblings has the order of an array, whatever is added, removed and replaced', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('add', 'remove', 'replace'), fc.nat(5)), { maxLength: 30 });
  fc.assert(
    fc.property(steps, (all) => {
      const model: Item[] = [];
      let first: Item | undefined;
      for (const [step, at] of all) {
        const item = model[at];
        const added = new Item();
        if (step === 'add') {
          first = withSibling(first, added);
          model.push(added);
        } else if (item && first) {
          first = step === 'remove' ? withoutSibling(first, item) : withSiblingReplaced(first, item, added);
          model.splice(at, 1, ...step === 'remove' ? [] : [added]);
        }
        const listed = [...siblings(first)];
        expect(listed).toHaveLength(model.length);
        expect(listed.every((one, index) => one === model[index])).toBe(true);
      }
      for (const item of siblings(first)) first = withoutSibling(first, item);
      expect(first).toBeUndefined();
      expect(withoutSibling(first, new Item())).toBeUndefined();
    }),
    some,
  );
});

v8.setFlagsFromString('--expose-gc');
const gc: unknown = vm.runInNewContext('gc');
if (typeof gc !== 'function') throw new Error('there is no garbage collector to call');
const collect = gc;

/** Measured: 350 to 390. `npm run bench:rows` has more. */
test('a client, a tunnel and a host at rest take at most 400 bytes of the heap', async () => {
  const rows = 12_000;
  const { engine } = await startEngine();
  const taken: Record<string, number> = {};
  /** As from the database: no text shares anything with another one. */
  function* made<Wanted extends object>(kind: string, make: (id: number) => Wanted) {
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let id = 1; id <= rows; id++) {
      const wanted = JSON.parse(JSON.stringify(make(id))) as Wanted; // what it was made of
      yield [{ wanted, stored: { ...fresh } }];
    }
    collect();
    taken[kind] = (process.memoryUsage().heapUsed - before) / rows;
  }
  await engine.load({
    ...storedState(),
    clients: made<WantedClient>('client', (id) => ({ ...CLIENT, id, vkey: `the-key-of-client-${id}` })),
    tunnels: made<WantedTunnel>(
      'tunnel',
      (id) =>
        tunnelOf({
          id,
          clientId: id,
          serverIp: '',
          ...id % 2 === 0 ? { enabled: false, port: 1024 + id } : { mode: 'secret', password: `password ${id}` },
          targets: [`127.0.0.1:${1024 + id}`],
        }),
    ),
    hosts: made<WantedHost>('host', (id) => hostOf({ id, clientId: id, host: `host-${id}.example.com`, targets: [`127.0.0.1:${1024 + id}`] })),
  });
  expect(Object.keys(taken)).toEqual(['client', 'tunnel', 'host']);
  for (const [kind, bytes] of Object.entries(taken)) expect(`${kind}: ${bytes <= 400 ? 'at most 400' : bytes}`).toBe(`${kind}: at most 400`);
});

/** Measured: 1.4 times. With a text and an entry of a set for each address, it was 4.7 times. */
test("a client's lists of addresses take at most twice the memory of their text", async () => {
  const [rows, lines] = [20, 4000];
  const { engine } = await startEngine();
  const list = (id: number) => Array.from({ length: lines }, (_, n) => `10.${(n * 7919) % 251}.${id}.${n % 256}`).join('\n');
  const used = () => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  let [before, after, text] = [0, 0, 0];
  function* made() {
    before = used();
    for (let id = 1; id <= rows; id++) {
      const wanted = JSON.parse(JSON.stringify({ ...CLIENT, id, vkey: `key ${id}`, blackIpList: list(id), ipWhiteList: list(id + rows) })) as WantedClient;
      text += wanted.blackIpList.length + wanted.ipWhiteList.length;
      yield [{ wanted, stored: { ...fresh } }];
    }
    after = used();
  }
  await engine.load({ ...storedState(), clients: made() });
  expect((after - before) / text).toBeLessThan(2);
});
