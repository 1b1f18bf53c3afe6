import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { testApis } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';

const digest = createHash('md5').update('a1b2c3d4e5').digest('hex');
const answers = {
  ok: { success: true, message: 'ok' },
  params: { success: false, message: 'bad params' },
  key: { success: false, message: 'unknown key' },
  password: { success: false, message: 'bad password' },
};

describe('/auth/ipwhiteauth/', () => {
  const apis = testApis(testDatabases('sqlite'));

  async function start() {
    const api = await apis.start();
    await api.signed('/client/add/', { vkey: 'a1b2c3d4e5', ipwhite: true, ipwhitepass: 'open the door' });
    const ask = async (parameters: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) => {
      const { status, body } = await api.call('/auth/ipwhiteauth/', parameters, { headers });
      expect(status).toBe(200);
      return body;
    };
    return { api, ask };
  }

  test("allows the caller's address by the digest of the key (contract 3.2) and the password", async () => {
    const { api, ask } = await start();
    expect(digest).toBe('cb3bae31bb1c443fbf3db8889055f2fe');
    expect(await ask({ vkey: ` ${digest.toUpperCase()}\n`, pass: 'open the door' })).toEqual(answers.ok);
    expect(api.engine.letInAddresses).toEqual(new Set(['1 127.0.0.1']));
  });

  test('allows the given address in its canonical spelling, and ignores headers of untrusted clients', async () => {
    const { api, ask } = await start();
    expect(await ask({ vkey: digest, pass: 'open the door', ip: ' ::ffff:203.0.113.9 ' })).toEqual(answers.ok);
    expect(await ask({ vkey: digest, pass: 'open the door', ip: '' }, { 'x-forwarded-for': '203.0.113.10' })).toEqual(answers.ok);
    expect(api.engine.letInAddresses).toEqual(new Set(['1 203.0.113.9', '1 127.0.0.1']));
  });

  test.each([
    ['no key', { pass: 'open the door' }, answers.params],
    ['no password', { vkey: digest }, answers.params],
    ['a network', { vkey: digest, pass: 'open the door', ip: '10.0.0.0/8' }, answers.params],
    ['no address', { vkey: digest, pass: 'open the door', ip: 'here' }, answers.params],
    ['the key itself', { vkey: 'a1b2c3d4e5', pass: 'open the door' }, answers.key],
    ['blanks around the password', { vkey: digest, pass: ' open the door ' }, answers.password],
    ['a blank password', { vkey: digest, pass: ' ' }, answers.params],
    ['another password', { vkey: digest, pass: 'let me out' }, answers.password],
  ])('admits nobody with %s', async (_, parameters, answer) => {
    const { api, ask } = await start();
    expect(await ask(parameters)).toEqual(answer);
    expect(api.engine.letInAddresses).toEqual(new Set());
  });

  test('knows no client without a password', async () => {
    const { api, ask } = await start();
    await api.signed('/client/edit/', { id: 1, ipwhitepass: '' });
    expect(await ask({ vkey: digest, pass: 'x' })).toEqual(answers.key);
  });

  test('guesses count for the address that they come from and for the client; the right password is none', async () => {
    const { api, ask } = await start();
    const guessed: unknown[] = [];
    api.attempts.watch(({ address, name }) => guessed.push([address, name]));
    for (let n = 0; n < 11; n++) expect(await ask({ vkey: digest, pass: 'open the door', ip: '203.0.113.9' })).toEqual(answers.ok);
    expect(await ask({ vkey: digest, pass: 'x', ip: '203.0.113.9' })).toEqual(answers.password);
    api.clock.now = Date.now() + 61_000;
    expect(await ask({ vkey: digest.replace('c', 'd'), pass: 'x', ip: '203.0.113.9' })).toEqual(answers.key);
    expect(guessed).toEqual([['127.0.0.1', 'client 1'], ['127.0.0.1', 'no client']]);
  });

  test('after ten wrong guesses of an address the right password is wrong too, until the minute is over', async () => {
    const { api, ask } = await start();
    api.clock.now = 1_700_000_000_000;
    for (let guess = 0; guess < 10; guess++) expect(await ask({ vkey: digest, pass: `guess ${guess}` })).toEqual(answers.password);
    expect(await ask({ vkey: digest, pass: 'open the door' })).toEqual(answers.password);
    expect(api.attempts.lockouts(api.clock.now)).toMatchObject([{ credential: 'ipWhitePassword', kind: 'address', source: '127.0.0.1' }]);
    api.clock.now += 61_000;
    expect(await ask({ vkey: digest, pass: 'open the door' })).toEqual(answers.ok);
  });
});
