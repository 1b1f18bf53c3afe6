import { createDecipheriv } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { testApis, testAuthKey } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';

describe('the endpoints under /auth', () => {
  const apis = testApis(testDatabases('sqlite'));

  test.each(['/auth/gettime/', '/auth/gettime', '/auth/get_time/', '/Auth/GetTime'])(
    "%s answers the server's time to anyone, by GET and POST",
    async (path) => {
      const api = await apis.start();
      api.clock.now = 1_717_654_321_999;
      for (const method of ['GET', 'POST']) {
        const { status, body } = await api.call(path, {}, { method, encoding: 'query' });
        expect([status, body]).toEqual([200, { time: 1_717_654_321 }]);
      }
    },
  );

  test('/auth/getauthkey/ hands out the key, encrypted with the crypt key, by GET and POST', async () => {
    const api = await apis.start({ authCryptKey: 'a crypt key of 1' });
    for (const method of ['GET', 'POST']) {
      const { status, body } = await api.call('/auth/getauthkey/', {}, { method, encoding: 'query' });
      expect([status, body]).toEqual([200, { crypt_auth_key: expect.stringMatching(/^[0-9a-f]{64}$/), crypt_type: 'aes cbc', status: 1 }]);
      const { crypt_auth_key: encrypted } = JSON.parse(JSON.stringify(body));
      const cipher = createDecipheriv('aes-128-cbc', 'a crypt key of 1', 'a crypt key of 1');
      expect(cipher.update(encrypted, 'hex', 'utf8') + cipher.final('utf8')).toBe(testAuthKey);
    }
  });

  test('/auth/getauthkey/ answers the vector of contract 3.2', async () => {
    const api = await apis.start({ authKey: 'test', authCryptKey: '1234567812345678' });
    const { status, body } = await api.call('/auth/getauthkey/', {}, { method: 'GET', encoding: 'query' });
    expect([status, body]).toEqual([200, { crypt_auth_key: '04acf026285da15817ac9a072c1259ac', crypt_type: 'aes cbc', status: 1 }]);
  });

  test.each([
    ['a crypt key of 15 bytes', { authCryptKey: 'fifteen letters' }],
    ['a crypt key of 16 characters that are more bytes', { authCryptKey: 'sixteen lettersé' }],
    ['an empty crypt key', { authCryptKey: '' }],
    ['no key', { authKey: '' }],
  ])('/auth/getauthkey/ answers status 0 and nothing else with %s', async (_, settings) => {
    const api = await apis.start(settings);
    const { status, body } = await api.call('/auth/getauthkey/', {}, { method: 'GET', encoding: 'query' });
    expect([status, body]).toEqual([200, { status: 0 }]);
  });

  test('/auth/getauthkey/ is refused to an address that asks all the time', async () => {
    const api = await apis.start();
    const answers = await Promise.all(Array.from({ length: 301 }, () => api.call('/auth/getauthkey/')));
    expect(answers[0]?.headers.get('ratelimit-policy')).toMatch(/q=300; w=60\b/);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(300);
    expect(answers.find(({ status }) => status === 429)?.body).toEqual({ status: 0, msg: 'too many requests' });
  });
});
