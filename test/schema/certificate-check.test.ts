import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { covering, expired, makeCertificate, other } from '../support/certificates.ts';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';
import { tooLarge } from '../support/unusual-keys.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
const check = `query ($certificate: String!, $privateKey: String, $host: String) {
  checkCertificate(certificate: $certificate, privateKey: $privateKey, host: $host) { usable problems names issuer validFrom expiresAt daysRemaining fingerprint }
}`;
const problemsOf = async (api: TestSchema, variables: Readonly<Record<string, unknown>>) => {
  const { usable, problems } = await api.record(check, variables);
  return { usable, problems };
};

eitherDialect('the check of a certificate before it is stored', (databases) => {
  test('a pair is described, and whether it can be used for a host', async () => {
    const api = await openTestSchema(databases, {}, () => Date.parse('2119-11-30T12:00:00Z'));
    const pair = { certificate: covering.certificate, privateKey: covering.key };
    expect(await api.record(check, { ...pair, host: 'a.p.example.com' })).toEqual({
      usable: true,
      problems: [],
      names: ['*.p.example.com'],
      issuer: 'adit test',
      validFrom: '2020-01-01T00:00:00.000Z',
      expiresAt: '2120-01-01T00:00:00.000Z',
      daysRemaining: 31,
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await problemsOf(api, { ...pair, host: '*.p.example.com' })).toEqual({ usable: true, problems: [] });
    expect(await problemsOf(api, { ...pair, host: ' A.P.Example.com. ' })).toEqual({ usable: true, problems: [] });
    expect(await problemsOf(api, { ...pair, host: 'example.com' })).toEqual({ usable: false, problems: ['NOT_COVERED'] });
    expect(await problemsOf(api, pair)).toEqual({ usable: true, problems: [] });
    expect(await api.code(check, { ...pair, host: 'no host/' })).toBe('HOST_INVALID');
  });

  test('a certificate is valid from its first moment to its last, and expires soon when less than 15 days are left', async () => {
    let now = 0;
    const api = await openTestSchema(databases, {}, () => now);
    const problems = async (at: string, more: number) => {
      now = Date.parse(at) + more;
      return (await problemsOf(api, { certificate: covering.certificate, privateKey: covering.key }))['problems'];
    };
    expect([await problems('2020-01-01T00:00:00Z', -1), await problems('2020-01-01T00:00:00Z', 0)]).toEqual([['NOT_YET_VALID'], []]);
    expect([await problems('2119-12-17T00:00:00Z', 0), await problems('2119-12-17T00:00:00Z', 1)]).toEqual([[], ['EXPIRING']]);
    expect([await problems('2120-01-01T00:00:00Z', -1), await problems('2120-01-01T00:00:00Z', 0)]).toEqual([['EXPIRING'], ['EXPIRED']]);
  });

  test('everything that is wrong is reported, with what can be read', async () => {
    const api = await openTestSchema(databases);
    const { certificate } = covering;
    expect(await problemsOf(api, { certificate })).toEqual({ usable: false, problems: ['KEY_MISSING'] });
    expect(await problemsOf(api, { certificate, privateKey: other.key, host: 'a.com' })).toEqual({ usable: false, problems: ['KEY_MISMATCH', 'NOT_COVERED'] });
    expect(await problemsOf(api, { certificate: tooLarge.certificate, privateKey: tooLarge.key })).toEqual({ usable: false, problems: ['KEY_REFUSED'] });
    expect(await problemsOf(api, { certificate: expired.certificate, privateKey: expired.key })).toEqual({ usable: false, problems: ['EXPIRED'] });
    const soon = await makeCertificate(['a.com'], { to: new Date(Date.now() + 5 * 86_400_000) });
    expect(await problemsOf(api, { certificate: soon.certificate, privateKey: soon.key, host: 'a.com' })).toEqual({ usable: true, problems: ['EXPIRING'] });
    const later = await makeCertificate(['a.com'], { from: new Date(Date.now() + 86_400_000) });
    expect(await problemsOf(api, { certificate: later.certificate, privateKey: later.key })).toEqual({ usable: false, problems: ['NOT_YET_VALID'] });
    expect(await api.record(check, { certificate: '-----BEGIN CERTIFICATE-----\nrubbish\n-----END CERTIFICATE-----' })).toEqual({
      usable: false,
      problems: ['CERTIFICATE_INVALID'],
      names: [],
      issuer: null,
      validFrom: null,
      expiresAt: null,
      daysRemaining: null,
      fingerprint: null,
    });
  });

  test('only administrators may name files of the server', async () => {
    const api = await openTestSchema(databases);
    const [certificate, privateKey] = [path.join(directory, 'certificate.pem'), path.join(directory, 'key.pem')];
    writeFileSync(certificate, covering.certificate);
    writeFileSync(privateKey, covering.key);
    expect(await problemsOf(api, { certificate, privateKey })).toEqual({ usable: true, problems: [] });
    expect(await problemsOf(api, { certificate: path.join(directory, 'none') })).toEqual({ usable: false, problems: ['CERTIFICATE_UNREADABLE'] });
    expect(await problemsOf(api, { certificate, privateKey: path.join(directory, 'none') })).toEqual({ usable: false, problems: ['KEY_UNREADABLE'] });
    for (const caller of [{ kind: 'user', userId: 1 }, { kind: 'client', clientId: 1 }] as const) {
      expect((await api.run(check, { certificate, privateKey }, caller)).errors).toMatchObject([{
        code: 'INVALID_INPUT',
        extensions: { field: 'certificate' },
      }]);
      expect((await api.run(check, { certificate: covering.certificate, privateKey: covering.key }, caller)).errors).toEqual([]);
    }
  });

  test('a failed ACME order is retried for callers who may change the host, and the answer says when it cannot be', async () => {
    const api = await openTestSchema(databases);
    const clientId = await api.id('mutation { createClient(input: {}) { id } }');
    const id = await api.id(`mutation { createHost(input: { clientId: ${clientId}, host: "a.com", targets: ["80"], acme: true }) { id } }`);
    const retry = `mutation { retryAcme(hostId: ${id}) { id } }`;
    expect(await api.code(retry)).toBe('ACME_NOT_FAILED');
    api.engine.acmeRetries.set(id, { kind: 'started' });
    expect(await api.ok(retry)).toEqual({ retryAcme: { id } });
    const orders = '{ auditEntries(filter: { resource: ACME_ORDER }) { rows { resourceId action callerKind after } } }';
    expect(await api.ok(orders)).toEqual({
      auditEntries: { rows: [{ resourceId: String(id), action: 'CREATE', callerKind: 'ADMINISTRATOR', after: { id, host: 'a.com' } }] },
    });
    expect((await api.run(retry, {}, { kind: 'client', clientId })).errors).toEqual([]);
    expect(await api.code(retry, {}, { kind: 'user', userId: 9 })).toBe('FORBIDDEN');
    expect(await api.code(retry, {}, { kind: 'client', clientId, readOnly: true })).toBe('FORBIDDEN');
    api.engine.acmeRetries.set(id, { kind: 'later', at: Date.parse('2026-02-01') });
    expect((await api.run(retry)).errors).toMatchObject([{ code: 'ACME_RETRY_LATER', extensions: { at: '2026-02-01T00:00:00.000Z' } }]);
  });
});
