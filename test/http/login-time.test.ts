import { beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import argon2 from '@node-rs/argon2';
import { testAdminPassword, testApis, type Api } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';
import { isShort } from '../support/endurance.ts';

// What a login takes is the time of its verifications (20 ms each): counted, that can be compared without a stop-watch.
const verify = jest.spyOn(argon2, 'verify');

const apis = testApis(testDatabases('sqlite'), { realPasswords: true });
let api: Api;
beforeAll(async () => {
  api = await apis.start({ allowVkeyLogin: true });
  await api.signed('/user/add/', { username: 'known', password: 'the password' });
  await api.signed('/user/add/', { username: 'disabled', password: 'the password' });
  await api.signed('/user/changestatus/', { id: 2, status: 0 });
  await api.signed('/user/add/', { username: 'expired', password: 'the password', expire_time: '2020-01-01' });
  for (const web_username of ['web', 'shared web', 'shared web', 'shared web', 'shared web', 'known']) {
    await api.signed('/client/add/', { web_username, web_password: 'the password' });
  }
  await api.signed('/client/add/', { web_username: 'disabled web', web_password: 'the password' });
  await api.signed('/client/changestatus/', { id: 7, status: 0 });
});
beforeEach(() => {
  // A minute later nothing is held against the address.
  api.clock.now = (api.clock.now ?? Date.now()) + 61_000;
  verify.mockClear();
});

/** What a wrong password for a name costs. */
async function costOf(username: string): Promise<readonly string[]> {
  const answer = await api.call('/login/verify', { username, password: 'wrong' });
  expect(answer.body).toEqual({ status: 0, msg: 'username or password incorrect' });
  // The salt and the digest aside, a hash says what it takes to verify.
  return verify.mock.calls.map(([hash]) => String(hash).split('$').slice(0, 4).join('$'));
}

const names = [['a user', 'known'], ['the web login of several clients', 'shared web'], ['the administrator', 'admin']] as const;
const moreNames = [
  ['a disabled user', 'disabled'],
  ['an expired user', 'expired'],
  ['the web login of a client', 'web'],
  ['the web login of a disabled client', 'disabled web'],
  ['the login by an agent key', 'user'],
  ['nobody, blank', ''],
  ['nobody, with a character that a database refuses', 'a\0'],
] as const;

test.each(isShort ? names : [...names, ...moreNames])(
  'a wrong password for the name of %s takes as many verifications as one for the name of nobody',
  async (_whose, username) => {
    const nobodys = await costOf('nobody');
    verify.mockClear();
    expect(await costOf(username)).toEqual(nobodys);
    expect(nobodys).toEqual(Array.from({ length: 4 }, () => '$argon2id$v=19$m=19456,t=2,p=1'));
  },
);

test("the administrator's name and password by Basic are compared without any", async () => {
  const ask = async (username: string, password: string) =>
    (await fetch(`${api.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Basic ${btoa(`${username}:${password}`)}` },
      body: '{"query":"{ viewer { role } }"}',
    })).status;
  expect([await ask('admin', 'wrong'), await ask('nobody', testAdminPassword), await ask('admin', testAdminPassword)]).toEqual([401, 401, 200]);
  expect(verify).not.toHaveBeenCalled();
});
