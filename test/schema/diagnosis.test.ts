import { expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import { type CertificateState, refusalCauses } from '../../src/engine/face.ts';
import type { Caller } from '../../src/rules/caller.ts';
import type { Tunnel } from '../../src/store/generated/sqlite/client.ts';
import { eitherDialect } from '../support/database.ts';
import { onlineState } from '../support/client-state.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

const gate = 'name outcome explanation remedy';
const ask = `query ($host: String!, $path: String, $scheme: RequestScheme!, $from: String, $probe: Boolean) {
  diagnoseHost(host: $host, path: $path, scheme: $scheme, visitorAddress: $from, probe: $probe) {
    host path scheme matched reason target rule { id } gates { ${gate} } stoppedBy { name explanation remedy } probes { target reached error }
  }
}`;
const askTunnel = `query ($id: ID!, $from: String, $probe: Boolean) {
  diagnoseTunnel(id: $id, visitorAddress: $from, probe: $probe) { tunnel { id } gates { ${gate} } stoppedBy { name explanation } probes { target reached error } }
}`;
const gateCodes = 'gates { name outcome findings { code } fix { code } }';
const askCodes = `query ($host: String!, $path: String, $scheme: RequestScheme!, $from: String, $probe: Boolean) {
  diagnoseHost(host: $host, path: $path, scheme: $scheme, visitorAddress: $from, probe: $probe) { ${gateCodes} }
}`;
const askTunnelCodes = `query ($id: ID!, $from: String) { diagnoseTunnel(id: $id, visitorAddress: $from) { ${gateCodes} } }`;
const coded = z.object({ code: z.string() });
const codedGates = z.object({ gates: z.array(z.object({ name: z.string(), outcome: z.string(), findings: z.array(coded), fix: coded.nullable() })) });
/** By the name of each gate: its outcome, the codes of what it has found, and that of the fix. */
const codesOf = (diagnosed: unknown) =>
  Object.fromEntries(
    codedGates.parse(diagnosed).gates.map(({ name, outcome, findings, fix }) => [
      name,
      `${outcome} ${findings.map(({ code }) => code).join(' ')}${fix ? `: ${fix.code}` : ''}`,
    ]),
  );
/** The same of the only field of an operation, as a caller sees it. */
const codesFor = async (api: TestSchema, operation: string, variables: Readonly<Record<string, unknown>>, caller?: Caller) => {
  const { data } = await api.run(operation, variables, caller);
  return codesOf(Object.values(z.record(z.string(), z.unknown()).parse(data))[0]);
};
const online = onlineState({ lastOnlineAt: Date.now() });
const newClient = (api: TestSchema, input = {}) => api.id('mutation ($input: CreateClientInput!) { createClient(input: $input) { id } }', { input });
const newHost = (api: TestSchema, input: Readonly<Record<string, unknown>>) =>
  api.id('mutation ($input: CreateHostInput!) { createHost(input: $input) { id } }', { input });
const diagnosis = (api: TestSchema, variables: Readonly<Record<string, unknown>>) => api.record(ask, { scheme: 'HTTP', ...variables });

eitherDialect('diagnosis', (databases) => {
  test('finds the rule that matches a request, and reports the gate that stops it', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    const id = await newHost(api, { clientId, host: '*.example.com', location: '/api', targets: ['10.0.0.1:80', '81'] });
    const asked = { host: 'A.Example.com:8000', path: '/api/x?y' };
    expect(await diagnosis(api, asked)).toMatchObject({
      host: 'a.example.com',
      path: '/api/x?y',
      scheme: 'HTTP',
      matched: true,
      reason: null,
      rule: { id },
      target: '10.0.0.1:80',
      probes: [],
      stoppedBy: { name: 'AGENT', explanation: `the agent of client ${clientId} is not connected` },
    });
    api.engine.clients.set(clientId, online);
    const found = await diagnosis(api, asked);
    expect(found).toMatchObject({ stoppedBy: null });
    expect(found['gates']).toEqual(
      ['ROUTE', 'CERTIFICATE', 'ENABLED', 'OWNER', 'QUOTA', 'ACCESS', 'AGENT', 'TARGET'].map((name) => ({
        name,
        outcome: 'PASSED',
        explanation: expect.any(String),
        remedy: null,
      })),
    );
    api.engine.unreachable.add('10.0.0.1:80');
    expect(await diagnosis(api, { ...asked, probe: true })).toMatchObject({
      stoppedBy: null,
      probes: [{ target: '10.0.0.1:80', reached: false, error: '10.0.0.1:80: connection refused' }, { target: '127.0.0.1:81', reached: true, error: null }],
    });
    api.engine.unreachable.add('127.0.0.1:81');
    expect(await diagnosis(api, { ...asked, probe: true })).toMatchObject({
      matched: true,
      stoppedBy: { name: 'TARGET', explanation: 'no target responds: 10.0.0.1:80: connection refused' },
    });
  });

  test('reports which targets fail their health checks, and when none is left', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    const id = await newHost(api, { clientId, host: 'a.com', targets: ['10.0.0.1:80', '81'] });
    const tunnelId = await api.id('mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }', {
      input: { clientId, mode: 'TCP', targets: ['10.0.0.1:80', '81'] },
    });
    api.engine.clients.set(clientId, online);
    const tell = (second: boolean) => {
      for (const key of [`host ${id}`, `tunnel ${tunnelId}`]) {
        api.engine.health.set(key, {
          type: 'tcp',
          intervalMs: 1,
          timeoutMs: 1,
          maxFailed: 1,
          path: '',
          targets: [
            { target: '10.0.0.1:80', healthy: false, failures: 1, since: 0, lastError: 'refused' },
            { target: '127.0.0.1:81', healthy: second, failures: 1, since: 0, lastError: 'silent' },
          ],
        });
      }
    };
    tell(true);
    const some = await diagnosis(api, { host: 'a.com' });
    expect(some).toMatchObject({ target: '127.0.0.1:81', stoppedBy: null });
    expect(some['gates']).toContainEqual({
      name: 'TARGET',
      outcome: 'PASSED',
      remedy: null,
      explanation: 'connections go to 127.0.0.1:81, not to 10.0.0.1:80, which fail their health checks; no connection was tried',
    });
    tell(false);
    const explanation = 'no target passes its health checks: 10.0.0.1:80: refused';
    expect(await diagnosis(api, { host: 'a.com' })).toMatchObject({
      target: null,
      reason: 'the rule matches, but there is no usable target',
      stoppedBy: { name: 'TARGET', explanation },
    });
    expect(await api.record(askTunnel, { id: tunnelId })).toMatchObject({ stoppedBy: { name: 'TARGET', explanation } });
  });

  test('reports why no rule matches a request', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    const id = await newHost(api, { clientId, host: 'a.com', location: '/x', scheme: 'HTTPS' });
    const reason = async (variables: Readonly<Record<string, unknown>>) => {
      const { matched, reason, rule, stoppedBy } = await diagnosis(api, variables);
      expect({ matched, rule, stoppedBy }).toMatchObject({
        matched: false,
        rule: null,
        stoppedBy: { name: 'ROUTE', explanation: reason, remedy: expect.stringMatching(/./) },
      });
      return reason;
    };
    expect(await reason({ host: 'b.com' })).toBe('no host rule matches');
    expect(await reason({ host: 'not a host/' })).toBe('no host rule matches');
    expect(await reason({ host: 'a.com', path: '/x' })).toBe('the scheme differs from that of the matching rules');
    expect(await reason({ host: 'a.com', path: '/xy', scheme: 'HTTPS' })).toBe('the path does not match the location of any started rule');
    await api.ok('mutation ($id: ID!) { stopHost(id: $id) { id } }', { id });
    expect(await reason({ host: 'a.com', path: '/x', scheme: 'HTTPS' })).toBe('all matching rules are stopped');
    await api.ok('mutation ($id: ID!) { startHost(id: $id) { id } }', { id });
    expect(await diagnosis(api, { host: 'a.com', path: '/x', scheme: 'HTTPS' })).toMatchObject({
      matched: true,
      reason: 'the rule matches, but there is no usable target',
      target: null,
    });
  });

  test('suggests the hosts of the caller whose name is almost that of the request', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const { id: userId } = await store.db.user.create({ data: { username: 'alice', passwordHash: '' } });
    const clientId = await newClient(api);
    const other = await newClient(api);
    await store.db.client.update({ where: { id: clientId }, data: { userId } });
    const shop = await newHost(api, { clientId, host: 'shop.example.com' });
    const all = await newHost(api, { clientId, host: '*.shop.example.org' });
    await newHost(api, { clientId: other, host: 'shopp.example.com' });
    await newHost(api, { clientId, host: 'blog.example.com' });
    const near = async (host: string) => {
      const { data } = await api.run('query ($host: String!) { diagnoseHost(host: $host, scheme: HTTP) { near { id } } }', { host }, { kind: 'user', userId });
      return z.object({ diagnoseHost: z.object({ near: z.array(z.object({ id: z.number() })) }) }).parse(data).diagnoseHost.near.map(({ id }) => id);
    };
    expect(await near('shpo.example.com')).toEqual([shop]);
    expect(await near('shop.exampel.com')).toEqual([shop]);
    expect(await near('shpp.exbmple.com')).toEqual([shop]);
    expect(await near('SHOPS.example.co:8080')).toEqual([shop]);
    expect(await near('shop.example.og')).toEqual([all, shop]);
    // The five closest, of those that are equally close the oldest first.
    const wide = await newHost(api, { clientId, host: 'bloog.example.com' });
    const numbered = [];
    for (const host of ['blog12.example.com', 'blog1.example.com', 'blog2.example.com', 'blog3.example.com', 'blog4.example.com']) {
      numbered.push(await newHost(api, { clientId, host }));
    }
    expect(await near('blogs.example.com')).toEqual([wide - 1, ...numbered.slice(1)]);
    expect(await near('blog1x.example.com:80')).toEqual([...numbered.slice(0, 2), wide - 1, ...numbered.slice(2, 4)]);
    // None is mistyped that is only served elsewhere; one host has this name; another one differs in three letters.
    await newHost(api, { clientId, host: 'bl0g.example.com', location: '/x' });
    expect(await near('bl0g.example.com')).toEqual([]);
    expect([await near('shop.example.com'), await near('sssh.example.com')]).toEqual([[], []]);
  });

  test('refuses what is no request', async () => {
    const api = await openTestSchema(databases);
    const refusal = async (variables: Readonly<Record<string, unknown>>) => (await api.run(ask, { host: 'a.com', scheme: 'HTTP', ...variables })).errors[0];
    expect(await refusal({ host: ' ' })).toMatchObject({ code: 'DIAGNOSIS_REQUEST_INVALID', message: 'host empty', extensions: { field: 'host' } });
    expect(await refusal({ path: 'x' })).toMatchObject({ message: 'path must start with /' });
    for (const path of ['/a b', '/%zz', '/\0']) expect(await refusal({ path })).toMatchObject({ message: 'bad path', extensions: { field: 'path' } });
    expect(await diagnosis(api, { host: 'a.com', path: '' })).toMatchObject({ path: '/' });
  });

  test('each gate that stops a request reports a remedy', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const user = await db.user.create({ data: { username: 'alice', passwordHash: '' } });
    const clientId = await newClient(api, { ownerId: user.id, flowLimit: 1, maxConnections: 2, blocklist: ['1.1.1.1'], allowlist: ['2.2.2.2'] });
    await newHost(api, { clientId, host: 'a.com', targets: ['80'] });
    const stop = async (from?: string) => (await diagnosis(api, { host: 'a.com', from }))['stoppedBy'];
    const gates = async () => (await diagnosis(api, { host: 'a.com' }))['gates'];
    api.engine.clients.set(clientId, online);
    expect(await stop('3.3.3.3')).toBeNull();
    const owner = async () => {
      const { gates } = z.object({ gates: z.array(z.object({ name: z.string(), explanation: z.string() })) }).parse(await diagnosis(api, { host: 'a.com' }));
      return gates.find(({ name }) => name === 'OWNER')?.explanation;
    };
    expect(await owner()).toBe(`client ${clientId} belongs to alice and does not expire`);
    // The earlier one of the two dates counts.
    await db.user.update({ where: { id: user.id }, data: { expiresAt: new Date('2098-01-01') } });
    expect(await owner()).toBe(`client ${clientId} belongs to alice and expires at 2098-01-01T00:00:00.000Z`);
    await db.client.update({ where: { id: clientId }, data: { expiresAt: new Date('2099-01-01') } });
    expect(await owner()).toBe(`client ${clientId} belongs to alice and expires at 2098-01-01T00:00:00.000Z`);
    await db.client.update({ where: { id: clientId }, data: { expiresAt: new Date('2097-01-01') } });
    expect(await owner()).toBe(`client ${clientId} belongs to alice and expires at 2097-01-01T00:00:00.000Z`);
    expect(await gates()).toContainEqual({ name: 'ACCESS', outcome: 'UNKNOWN', explanation: expect.any(String), remedy: 'ask again with a visitor address' });
    expect(await stop('::ffff:1.1.1.1')).toMatchObject({ name: 'ACCESS', remedy: `take it off the blocklist of client ${clientId}` });
    await db.client.update({ where: { id: clientId }, data: { ipWhite: true } });
    expect(await stop('3.3.3.3')).toMatchObject({ name: 'ACCESS', explanation: `3.3.3.3 is not on the allowlist of client ${clientId}` });
    await api.ok('mutation { updateGlobalSettings(input: { blocklist: ["2.2.2.2"] }) { serverUrl } }');
    expect(await stop('2.2.2.2')).toMatchObject({ name: 'ACCESS', remedy: 'take it off the global blocklist' });
    api.engine.clients.set(clientId, { ...online, connections: 2 });
    expect(await stop()).toMatchObject({ name: 'QUOTA', explanation: `client ${clientId} has 2 of 2 connections` });
    api.engine.clients.set(clientId, { ...online, inletBytes: 2 ** 20, exportBytes: 1 });
    expect(await stop()).toMatchObject({ name: 'QUOTA', explanation: `client ${clientId} has used 1 of 1 MiB` });
    api.engine.clients.set(clientId, { ...online, inletBytes: 2 ** 20, exportBytes: 1, refusals: { flow: 2, connections: 1 } });
    expect(await stop()).toMatchObject({
      explanation: `client ${clientId} has used 1 of 1 MiB; since the server started 3 connections were refused here (connections 1, flow 2)`,
    });
    await db.client.update({ where: { id: clientId }, data: { expiresAt: new Date(0) } });
    expect(await stop()).toMatchObject({ name: 'OWNER', remedy: `give client ${clientId} a later expiry` });
    await db.user.update({ where: { id: user.id }, data: { expiresAt: new Date(0) } });
    expect(await stop()).toMatchObject({ name: 'OWNER', remedy: 'give the user alice a later expiry' });
    await db.user.update({ where: { id: user.id }, data: { enabled: false } });
    expect(await stop()).toMatchObject({ name: 'OWNER', remedy: 'enable the user alice' });
    await db.client.update({ where: { id: clientId }, data: { enabled: false } });
    expect(await stop()).toMatchObject({ name: 'ENABLED', remedy: `enable client ${clientId}` });
  });

  test('invalid lines of access lists are reported to every caller, and match no address', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api, { allowlistEnabled: true, allowlist: ['10.0.0.0/8', '10.0.0'], blocklist: ['10.1.0.0/16', 'rubbish'] });
    await newHost(api, { clientId, host: 'a.com', targets: ['80'] });
    api.engine.clients.set(clientId, { ...online, refusals: { whiteList: 1 } });
    const access = async (from: string) => {
      const { gates } = z.object({
        gates: z.array(z.object({ name: z.string(), outcome: z.string(), explanation: z.string(), remedy: z.string().nullable() })),
      }).parse(await diagnosis(api, { host: 'a.com', from }));
      return gates.find(({ name }) => name === 'ACCESS');
    };
    const faults = 'these invalid lines are ignored: "10.0.0" of the allowlist, "rubbish" of the blocklist';
    const note = 'since the server started 1 connection was refused here (allowlist 1)';
    const remedy = 'correct these lines: an address or a network like 192.0.2.0/24 each';
    expect(await access('10.2.0.1')).toEqual({ name: 'ACCESS', outcome: 'PASSED', explanation: `10.2.0.1 is allowed; ${faults}; ${note}`, remedy });
    expect(await access('::ffff:10.1.0.1')).toMatchObject({ outcome: 'STOPPED', explanation: expect.stringMatching(/is on the blocklist.*rubbish/) });
    expect(await access('rubbish')).toMatchObject({ outcome: 'UNKNOWN', explanation: expect.stringMatching(/not an IP address/) });
  });

  test('a diagnosis for https reports the certificate and its problems', async () => {
    const api = await openTestSchema(databases);
    const id = await newHost(api, { clientId: await newClient(api), host: 'a.com', targets: ['80'] });
    const inUse = { names: ['a.com'], issuer: 'somebody', validFrom: new Date('2026-01-01'), validTo: new Date('2026-02-01'), fingerprint: 'ab'.repeat(32) };
    const found = async (state?: Pick<CertificateState, 'status' | 'problem'> & Partial<Pick<CertificateState, 'acme'>> & { readonly none?: boolean }) => {
      api.engine.certificates.clear();
      if (state) api.engine.certificates.set(id, { acme: null, ...state, inUse: state.none ? null : inUse });
      const { reason, gates } = z.object({ reason: z.string().nullable(), gates: z.array(z.looseObject({ name: z.string() })) }).parse(
        await diagnosis(api, { host: 'a.com', scheme: 'HTTPS' }),
      );
      return { reason, ...gates.find(({ name }) => name === 'CERTIFICATE') };
    };
    expect(await found()).toMatchObject({ reason: null, outcome: 'PASSED', explanation: 'the host has no certificate: TLS is passed through to the target' });
    expect(await found({ status: 'valid', problem: '' })).toMatchObject({
      reason: null,
      outcome: 'PASSED',
      explanation: 'the certificate (own) is valid until 2026-02-01T00:00:00.000Z',
      remedy: null,
    });
    expect(await found({ status: 'expiring', problem: '' })).toMatchObject({
      reason: null,
      outcome: 'PASSED',
      explanation: expect.stringMatching(/expires soon/),
      remedy: 'replace the certificate',
    });
    expect(await found({ status: 'refused', problem: 'the new one is bad' })).toMatchObject({
      reason: 'the new one is bad',
      outcome: 'PASSED',
      explanation: 'the new one is bad',
      remedy: expect.stringMatching(/^fix the files/),
    });
    expect(await found({ status: 'expired', problem: 'the new one is bad' })).toMatchObject({
      reason: 'the certificate has expired; the new one is bad',
      outcome: 'STOPPED',
    });
    expect(await found({ status: 'notCovered', problem: '' })).toMatchObject({ reason: 'the certificate does not cover the name', outcome: 'STOPPED' });
    const acme = { status: 'failed', failures: 2, problem: 'nobody answered', lastAt: null, nextAt: Date.parse('2026-03-01') } as const;
    expect(await found({ status: 'missing', problem: '', none: true, acme })).toMatchObject({
      reason: 'there is no usable certificate; nobody answered',
      outcome: 'STOPPED',
      remedy: expect.stringMatching(/port 80 .*2026-03-01/),
    });
    expect(await found({ status: 'missing', problem: 'cannot load', none: true })).toMatchObject({
      reason: 'there is no usable certificate; cannot load',
      outcome: 'STOPPED',
    });
  });

  test('a tunnel has the same gates', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    api.engine.clients.set(clientId, online);
    const create = 'mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }';
    const id = await api.id(create, { input: { clientId, mode: 'TCP', port: 9001, targets: ['10.0.0.1:22'] } });
    expect(await api.record(askTunnel, { id, probe: true })).toMatchObject({
      tunnel: { id },
      stoppedBy: null,
      probes: [{ target: '10.0.0.1:22', reached: true }],
    });
    api.engine.broken.add(id);
    expect(await api.record(askTunnel, { id })).toMatchObject({ stoppedBy: { name: 'ROUTE', explanation: 'port 9001 is not open: its port is occupied' } });
    await api.ok('mutation ($id: ID!) { stopTunnel(id: $id) { id } }', { id });
    expect(await api.record(askTunnel, { id })).toMatchObject({ stoppedBy: { name: 'ENABLED', explanation: 'the tunnel is stopped' } });
    const { id: keyless } = await api.services.store.db.tunnel.create({ data: { clientId, mode: 'secret' } });
    expect(await api.record(askTunnel, { id: keyless })).toMatchObject({ stoppedBy: { name: 'ROUTE' } });
    const proxy = await api.id(create, { input: { clientId, mode: 'SOCKS5' } });
    expect(await api.record(askTunnel, { id: proxy })).toMatchObject({ stoppedBy: null });
    expect(await api.ok(askTunnel, { id: 99 })).toEqual({ diagnoseTunnel: null });
    const byPort = 'query ($id: ID, $port: Port) { diagnoseTunnel(id: $id, port: $port) { tunnel { id } } }';
    expect(await api.record(byPort, { port: 9001 })).toEqual({ tunnel: { id } });
    expect((await api.run(byPort, { port: 9001 }, { kind: 'client', clientId: clientId + 1 })).data).toEqual({ diagnoseTunnel: null });
    expect([await api.code(byPort), await api.code(byPort, { id, port: 9001 })]).toEqual(['INVALID_INPUT', 'INVALID_INPUT']);

    // Whatever visitors were refused for is seen at some gate.
    api.engine.refusals.set(proxy, Object.fromEntries(refusalCauses.map((cause) => [cause, 2])));
    const { gates } = z.object({ gates: z.array(z.object({ name: z.string(), explanation: z.string() })) }).parse(await api.record(askTunnel, { id: proxy }));
    const names: Readonly<Record<string, string>> = { globalBlackList: 'globalBlocklist', whiteList: 'allowlist', blackList: 'blocklist' };
    const reported = gates.map(({ explanation }) => /refused here \((.*)\)$/.exec(explanation)?.[1] ?? '').filter((text) => text !== '').join(', ');
    // What the server or the agent has no room for is a limit, not the agent's absence.
    const seenAt = (cause: string) => gates.filter(({ explanation }) => explanation.includes(`${cause} 2`)).map(({ name }) => name);
    expect(['malformed', 'disabled', 'expired', 'flow', 'capacity', 'agentCapacity', 'login', 'localProxy', 'offline', 'noTarget'].map(seenAt)).toEqual(
      ['ROUTE', 'ENABLED', 'OWNER', 'QUOTA', 'QUOTA', 'QUOTA', 'ACCESS', 'AGENT', 'AGENT', 'TARGET'].map((name) => [name]),
    );
    expect(['connections', 'globalBlocklist', 'allowlist', 'blocklist'].map(seenAt)).toEqual([['QUOTA'], ['ACCESS'], ['ACCESS'], ['ACCESS']]);
    expect(reported.split(', ').toSorted()).toEqual(refusalCauses.map((cause) => `${names[cause] ?? cause} 2`).toSorted());
  });

  test('targets are dialed before they are stored', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    const probe = 'mutation ($clientId: ID!, $targets: [String!]!) { probeTargets(clientId: $clientId, targets: $targets) { target reached error } }';
    api.engine.unreachable.add('10.0.0.1:80');
    expect(await api.ok(probe, { clientId, targets: ['10.0.0.1:80', '81'] })).toEqual({
      probeTargets: [{ target: '10.0.0.1:80', reached: false, error: '10.0.0.1:80: connection refused' }, {
        target: '127.0.0.1:81',
        reached: true,
        error: null,
      }],
    });
    expect((await api.run(probe, { clientId, targets: ['22', 'office'] })).errors).toMatchObject([{
      code: 'INVALID_INPUT',
      extensions: { field: 'targets.1' },
    }]);
    const many = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}`);
    for (const targets of [many(17), [many(17).join('\n')], [many(16).join('\n'), '17']]) {
      expect((await api.run(probe, { clientId, targets })).errors).toMatchObject([{ code: 'INVALID_INPUT', extensions: { field: 'targets', most: 16 } }]);
    }
    expect(await api.ok(probe, { clientId, targets: [many(16).join('\n'), ' '] })).toMatchObject({
      probeTargets: many(16).map((port) => ({ target: `127.0.0.1:${port}` })),
    });
    expect(await api.code(probe, { clientId, targets: ['22'] }, { kind: 'client', clientId, readOnly: true })).toBe('FORBIDDEN');
  });

  test('each finding and each fix has a code with parameters, from which the text is made', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api, { maxConnections: 2 });
    const hostId = await newHost(api, { clientId, host: 'a.com', targets: ['80'] });
    api.engine.clients.set(clientId, { ...online, connections: 2, refusals: { connections: 5 } });
    const [state] = await api.engine.hostStates([hostId]);
    // The other two came through other hosts and tunnels.
    if (state) api.engine.hosts.set(hostId, { ...state, refusals: { connections: 3 } });
    const { gates } = z.object({ gates: z.array(z.looseObject({ name: z.string() })) }).parse(
      await api.record(
        '{ diagnoseHost(host: "a.com", scheme: HTTP) { gates { name findings { code text params { name value } } fix { code text params { name value } } refusals { cause count } explanation remedy } } }',
      ),
    );
    expect(gates.find(({ name }) => name === 'QUOTA')).toEqual({
      name: 'QUOTA',
      findings: [{
        code: 'CONNECTIONS_USED_UP',
        text: `client ${clientId} has 2 of 2 connections`,
        params: [{ name: 'clientId', value: String(clientId) }, { name: 'used', value: '2' }, { name: 'limit', value: '2' }],
      }],
      fix: {
        code: 'RAISE_CONNECTIONS',
        text: `wait for one to end, or raise the limit of client ${clientId}`,
        params: [{ name: 'clientId', value: String(clientId) }],
      },
      refusals: [{ cause: 'CONNECTIONS', count: 3 }],
      explanation: `client ${clientId} has 2 of 2 connections; since the server started 3 connections were refused here (connections 3)`,
      remedy: `wait for one to end, or raise the limit of client ${clientId}`,
    });
    expect(gates.find(({ name }) => name === 'CERTIFICATE')).toMatchObject({ findings: [{ code: 'HTTP_REQUEST', params: [] }], fix: null, refusals: [] });
  });

  test('each check of a host says by a code what it has found, and how to fix it', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const user = await db.user.create({ data: { username: 'alice', passwordHash: '' } });
    const id = await newClient(api);
    const hostId = await newHost(api, { clientId: id, host: 'a.com', location: '/x', targets: ['80'] });
    const all = async (variables = {}) => codesOf(await api.record(askCodes, { host: 'a.com', path: '/x', scheme: 'HTTP', ...variables }));
    const code = async (name: string, variables = {}) => (await all(variables))[name];
    const explained = z.object({ gates: z.array(z.object({ name: z.string(), explanation: z.string() })) });
    const said = async (gate: string) =>
      explained.parse(await diagnosis(api, { host: 'a.com', path: '/x' })).gates.find(({ name }) => name === gate)?.explanation;
    const client = (data: Parameters<typeof db.client.update>[0]['data']) => db.client.update({ where: { id }, data });
    const elsewhere = ['CERTIFICATE', 'ENABLED', 'OWNER', 'QUOTA', 'ACCESS', 'AGENT', 'TARGET'].map((name) => [name, 'UNKNOWN NO_RULE']);
    expect(await all({ host: 'b.com' })).toEqual({ ROUTE: 'STOPPED NO_HOST_MATCHES: ADD_HOST', ...Object.fromEntries(elsewhere) });
    expect(await code('ROUTE', { path: '/y' })).toBe('STOPPED PATH_DIFFERS: ADD_LOCATION');
    await db.host.update({ where: { id: hostId }, data: { scheme: 'https' } });
    expect(await code('ROUTE')).toBe('STOPPED SCHEME_DIFFERS: CHANGE_SCHEME');
    await db.host.update({ where: { id: hostId }, data: { scheme: 'all', enabled: false } });
    expect(await code('ROUTE')).toBe('STOPPED RULES_STOPPED: START_HOST');
    await db.host.update({ where: { id: hostId }, data: { enabled: true } });
    expect(await code('AGENT')).toBe('STOPPED AGENT_AWAY: START_AGENT');
    // Without an agent, the stored bytes count.
    await client({ flowLimit: 1, inletBytes: 2n ** 20n, exportBytes: 1n });
    expect(await code('QUOTA')).toBe('STOPPED TRAFFIC_USED_UP: RAISE_TRAFFIC');
    await client({ flowLimit: 0, inletBytes: 0n, exportBytes: 0n });
    api.engine.clients.set(id, online);
    expect(await all()).toEqual({
      ROUTE: 'PASSED HOST_MATCHED',
      CERTIFICATE: 'PASSED HTTP_REQUEST',
      ENABLED: 'PASSED HOST_STARTED',
      OWNER: 'PASSED UNASSIGNED',
      QUOTA: 'PASSED WITHIN_LIMITS',
      ACCESS: 'PASSED NO_LISTS',
      AGENT: 'PASSED AGENT_CONNECTED',
      TARGET: 'PASSED TARGETS_UNTRIED',
    });
    expect(await said('AGENT')).toBe(`the agent of client ${id} is connected from 203.0.113.9`);
    expect(await code('TARGET', { probe: true })).toBe('PASSED TARGET_ANSWERED');
    const targets = Array.from({ length: 17 }, (_, n) => `10.0.0.${n}:80`);
    await db.host.update({ where: { id: hostId }, data: { target: targets.join('\n') } });
    const probed = z.object({ probes: z.array(z.object({ target: z.string() })) });
    expect(probed.parse(await diagnosis(api, { host: 'a.com', path: '/x', probe: true })).probes.map(({ target }) => target)).toEqual(targets.slice(0, 16));
    await db.host.update({ where: { id: hostId }, data: { target: '80' } });
    api.engine.unreachable.add('127.0.0.1:80');
    expect(await code('TARGET', { probe: true })).toBe('STOPPED TARGETS_SILENT: START_SERVICE');
    const broken = { target: '127.0.0.1:80', healthy: false, failures: 1, since: 0, lastError: 'refused' };
    api.engine.health.set(`host ${hostId}`, { type: 'tcp', intervalMs: 1, timeoutMs: 1, maxFailed: 1, path: '', targets: [broken] });
    expect(await code('TARGET')).toBe('STOPPED TARGETS_UNHEALTHY: START_CHECKED_SERVICE');
    await db.host.update({ where: { id: hostId }, data: { target: '', localProxy: true } });
    expect(await code('TARGET')).toBe('STOPPED HOST_TARGET_MISSING: SET_HOST_TARGET');
    expect(await code('AGENT')).toBe('STOPPED LOCAL_PROXY_OFF: ALLOW_LOCAL_PROXY');

    await client({ flowLimit: 1, maxConnections: 2 });
    api.engine.clients.set(id, { ...online, connections: 1, inletBytes: 2 ** 20 - 1, exportBytes: 1 });
    expect(await code('QUOTA')).toBe('PASSED WITHIN_LIMITS');
    api.engine.clients.set(id, { ...online, connections: 2, inletBytes: 1, exportBytes: 2 ** 20 - 1 });
    expect(await code('QUOTA')).toBe('STOPPED CONNECTIONS_USED_UP: RAISE_CONNECTIONS');
    api.engine.clients.set(id, { ...online, connections: 2, inletBytes: 1, exportBytes: 2 ** 20 });
    expect(await code('QUOTA')).toBe('STOPPED TRAFFIC_USED_UP: RAISE_TRAFFIC');

    expect([await code('ACCESS', { from: '1.1.1.1' }), await code('ACCESS', { from: 'x' })]).toEqual([
      'PASSED ADDRESS_ALLOWED',
      'UNKNOWN ADDRESS_INVALID: GIVE_IP_ADDRESS',
    ]);
    await client({ blackIpList: '1.1.1.1' });
    expect([await code('ACCESS'), await code('ACCESS', { from: '1.1.1.1' })]).toEqual([
      'UNKNOWN ADDRESS_NEEDED: GIVE_ADDRESS',
      'STOPPED ON_BLOCKLIST: LEAVE_BLOCKLIST',
    ]);
    await client({ ipWhite: true, ipWhiteList: 'x', blackIpList: '' });
    expect(await code('ACCESS', { from: '2.2.2.2' })).toBe('STOPPED NOT_ON_ALLOWLIST INVALID_LINES: ADD_TO_ALLOWLIST');
    await client({ ipWhiteList: 'x\n2.2.2.2' });
    expect(await code('ACCESS', { from: '2.2.2.2' })).toBe('PASSED ADDRESS_ALLOWED INVALID_LINES: CORRECT_LINES');
    const lines = Array.from({ length: 12 }, (_, n) => `${n % 10}${'x'.repeat(60)}`);
    await client({ ipWhiteList: `2.2.2.2\n${lines.join('\n')}` });
    const { gates } = z.object({ gates: z.array(z.object({ name: z.string(), explanation: z.string() })) }).parse(
      await diagnosis(api, { host: 'a.com', path: '/x', from: '2.2.2.2' }),
    );
    expect(gates.find(({ name }) => name === 'ACCESS')?.explanation).toBe(
      `2.2.2.2 is allowed; these invalid lines are ignored: ${lines.slice(0, 10).map((line) => `"${line.slice(0, 50)}" of the allowlist`).join(', ')}`,
    );
    await api.ok('mutation { updateGlobalSettings(input: { blocklist: ["2.2.2.2"] }) { serverUrl } }');
    expect(await code('ACCESS', { from: '2.2.2.2' })).toBe('STOPPED ON_GLOBAL_BLOCKLIST INVALID_LINES: LEAVE_GLOBAL_BLOCKLIST');

    await client({ expiresAt: new Date('2099-01-01') });
    expect(await code('OWNER')).toBe('PASSED UNASSIGNED_UNTIL');
    expect(await said('OWNER')).toBe(`client ${id} belongs to nobody and expires at 2099-01-01T00:00:00.000Z`);
    await client({ expiresAt: new Date(0) });
    expect(await code('OWNER')).toBe('STOPPED CLIENT_EXPIRED: EXTEND_CLIENT');
    expect(await said('OWNER')).toBe(`client ${id} expired at 1970-01-01T00:00:00.000Z`);
    await client({ expiresAt: null, userId: user.id });
    expect(await code('OWNER')).toBe('PASSED OWNED');
    await db.user.update({ where: { id: user.id }, data: { expiresAt: new Date('2099-01-01') } });
    expect(await code('OWNER')).toBe('PASSED OWNED_UNTIL');
    expect(await said('OWNER')).toBe(`client ${id} belongs to alice and expires at 2099-01-01T00:00:00.000Z`);
    await db.user.update({ where: { id: user.id }, data: { expiresAt: new Date(0) } });
    expect(await code('OWNER')).toBe('STOPPED OWNER_EXPIRED: EXTEND_OWNER');
    expect(await said('OWNER')).toBe('the owner alice expired at 1970-01-01T00:00:00.000Z');
    await db.user.update({ where: { id: user.id }, data: { enabled: false } });
    expect(await code('OWNER')).toBe('STOPPED OWNER_DISABLED: ENABLE_OWNER');
    expect(await said('OWNER')).toBe('the owner alice is disabled');
    await client({ enabled: false });
    expect(await code('ENABLED')).toBe('STOPPED CLIENT_DISABLED: ENABLE_CLIENT');

    const inUse = { names: ['a.com'], issuer: 'somebody', validFrom: new Date(0), validTo: new Date('2099-01-01'), fingerprint: '' };
    const certificate = async (state: Partial<CertificateState>) => {
      api.engine.certificates.set(hostId, { status: 'valid', problem: '', acme: null, inUse, ...state });
      return await code('CERTIFICATE', { scheme: 'HTTPS' });
    };
    expect(await code('CERTIFICATE', { scheme: 'HTTPS' })).toBe('PASSED TLS_PASSED_THROUGH');
    await db.host.update({ where: { id: hostId }, data: { acme: true } });
    expect(await code('CERTIFICATE', { scheme: 'HTTPS' })).toBe('PASSED TLS_PASSED_THROUGH CERTIFICATE_PROBLEM');
    expect(await certificate({})).toBe('PASSED CERTIFICATE_VALID');
    expect(await certificate({ status: 'expiring' })).toBe('PASSED CERTIFICATE_EXPIRING: REPLACE_CERTIFICATE');
    expect(await certificate({ status: 'refused', problem: 'p' })).toBe('PASSED CERTIFICATE_PROBLEM: FIX_CERTIFICATE_FILES');
    expect(await certificate({ status: 'missing', inUse: null, problem: 'p' })).toBe('STOPPED CERTIFICATE_MISSING CERTIFICATE_PROBLEM: SET_CERTIFICATE');
    expect(await certificate({ status: 'expired' })).toBe('STOPPED CERTIFICATE_EXPIRED: REPLACE_CERTIFICATE');
    expect(await certificate({ status: 'notYetValid' })).toBe('STOPPED CERTIFICATE_NOT_YET_VALID: REPLACE_CERTIFICATE_OR_SET_CLOCK');
    expect(await certificate({ status: 'notCovered' })).toBe('STOPPED CERTIFICATE_NOT_COVERED: SET_CERTIFICATE_OF_NAME');
    const acme = { status: 'failed', failures: 1, problem: '', lastAt: null, nextAt: 1 } as const;
    expect(await certificate({ status: 'missing', inUse: null, acme })).toBe('STOPPED CERTIFICATE_MISSING: LET_ACME_REACH');
    expect(await certificate({ status: 'missing', inUse: null, acme: { ...acme, status: 'pending' } })).toBe('STOPPED CERTIFICATE_MISSING: WAIT_FOR_ACME');
  });

  test('each check of a tunnel says by a code what it has found, and how to fix it', async () => {
    const api = await openTestSchema(databases, { allowLocalProxy: true });
    const { db } = api.services.store;
    const clientId = await newClient(api);
    api.engine.clients.set(clientId, online);
    const all = async (data: Partial<Tunnel>, running?: { readonly running: boolean; readonly error: string }) => {
      const { id } = await db.tunnel.create({ data: { mode: 'tcp', port: 9001, target: '80', ...data, clientId } });
      const traffic = { connections: 0, rate: 0, inletRate: 0, exportRate: 0, inletBytes: 0, exportBytes: 0 };
      if (running) api.engine.tunnels.set(id, { ...traffic, ...running, refusals: {}, dropped: 0, visitors: [], health: null });
      const found = codesOf(await api.record(askTunnelCodes, { id }));
      await db.tunnel.delete({ where: { id } });
      return found;
    };
    const open = { running: true, error: '' };
    expect(await all({}, open)).toEqual({
      ROUTE: 'PASSED PORT_ENTRY',
      ENABLED: 'PASSED TUNNEL_STARTED',
      OWNER: 'PASSED UNASSIGNED',
      QUOTA: 'PASSED WITHIN_LIMITS',
      ACCESS: 'PASSED NO_LISTS',
      AGENT: 'PASSED AGENT_CONNECTED',
      TARGET: 'PASSED TARGETS_UNTRIED',
    });
    expect(await all({})).toMatchObject({ ROUTE: 'STOPPED PORT_OPENING: FREE_PORT' });
    expect(await all({}, { running: false, error: 'taken' })).toMatchObject({ ROUTE: 'STOPPED PORT_CLOSED: FREE_PORT' });
    expect(await all({ enabled: false })).toMatchObject({ ROUTE: 'PASSED PORT_ENTRY', ENABLED: 'STOPPED TUNNEL_STOPPED: START_TUNNEL' });
    for (const mode of ['tcp', 'udp', 'secret']) {
      expect(await all({ mode, password: 'p', target: '' }, open)).toMatchObject({ TARGET: 'STOPPED TUNNEL_TARGET_MISSING: SET_TUNNEL_TARGET' });
    }
    expect(await all({ localProxy: true }, open)).toMatchObject({ AGENT: 'PASSED SERVER_DIALS' });
    expect(await all({ mode: 'udp', proxyProtocol: 'V1' }, open)).toMatchObject({ ROUTE: 'PASSED PORT_ENTRY PROXY_PROTOCOL_UNUSED' });
    expect(await all({ mode: 'secret' })).toMatchObject({ ROUTE: 'STOPPED PASSWORD_MISSING: SET_PASSWORD' });
    expect(await all({ mode: 'p2p', password: 'p', target: '' })).toMatchObject({
      ROUTE: 'PASSED PASSWORD_ENTRY',
      TARGET: 'STOPPED TUNNEL_TARGET_MISSING: SET_TUNNEL_TARGET',
    });
    expect(await all({ mode: 'httpProxy', target: '' }, open)).toMatchObject({ TARGET: 'PASSED TARGET_OF_VISITOR' });
    expect(await all({ mode: 'file', target: '' }, open)).toMatchObject({ TARGET: 'STOPPED DIRECTORY_MISSING: SET_DIRECTORY' });
    expect(await all({ mode: 'file', target: '', localPath: '/srv' }, open)).toMatchObject({ TARGET: 'PASSED DIRECTORY_SERVED' });
    api.engine.modes = ['tcp'];
    expect(await all({ mode: 'socks5' }, open)).toMatchObject({ ROUTE: 'STOPPED MODE_NOT_SERVED: CHANGE_MODE' });
  });

  test('without an address, each of the lists leaves open who is refused; the password admits to the allowlist; lines of the global list are for administrators', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api, { allowlistEnabled: true, allowlist: ['10.0.0.1'] });
    await newHost(api, { clientId, host: 'a.com', targets: ['80'] });
    const access = async (from: string | undefined, caller?: Caller) =>
      (await codesFor(api, askCodes, { host: 'a.com', scheme: 'HTTP', from }, caller))['ACCESS'];
    expect(await access(undefined)).toBe('UNKNOWN ADDRESS_NEEDED: GIVE_ADDRESS');
    api.engine.letInAddresses.add(`${clientId} 192.0.2.1`);
    expect([await access('192.0.2.1'), await access('192.0.2.2')]).toEqual(['PASSED ADDRESS_ALLOWED', 'STOPPED NOT_ON_ALLOWLIST: ADD_TO_ALLOWLIST']);
    await api.ok('mutation ($id: ID!) { updateClient(id: $id, input: { allowlistEnabled: false, allowlist: [] }) { id } }', { id: clientId });
    expect(await access(undefined)).toBe('PASSED NO_LISTS');
    await api.ok('mutation { updateGlobalSettings(input: { blocklist: ["192.0.2.3", "rubbish"] }) { serverUrl } }');
    expect([await access(undefined), await access(undefined, { kind: 'client', clientId })]).toEqual([
      'UNKNOWN ADDRESS_NEEDED INVALID_LINES: GIVE_ADDRESS',
      'UNKNOWN ADDRESS_NEEDED: GIVE_ADDRESS',
    ]);
  });

  test('owner and client have expired at the time of their expiry; a port that is closed for that is not the reason', async () => {
    const now = Date.UTC(2030, 0, 1);
    const api = await openTestSchema(databases, {}, () => now);
    const { db } = api.services.store;
    const { id: userId } = await db.user.create({ data: { username: 'alice', passwordHash: '', expiresAt: new Date(now) } });
    const clientId = await newClient(api);
    const id = await newHost(api, { clientId, host: 'a.com', targets: ['80'] });
    const { id: tunnelId } = await db.tunnel.create({ data: { clientId, mode: 'tcp', port: 9001, target: '80' } });
    const owner = async () => (await codesFor(api, askCodes, { host: 'a.com', scheme: 'HTTP' }))['OWNER'];
    await db.client.update({ where: { id: clientId }, data: { expiresAt: new Date(now + 1) } });
    expect(await owner()).toBe('PASSED UNASSIGNED_UNTIL');
    await db.client.update({ where: { id: clientId }, data: { expiresAt: new Date(now) } });
    expect(await owner()).toBe('STOPPED CLIENT_EXPIRED: EXTEND_CLIENT');
    await db.client.update({ where: { id: clientId }, data: { expiresAt: null, userId } });
    expect(await owner()).toBe('STOPPED OWNER_EXPIRED: EXTEND_OWNER');
    expect(await codesFor(api, askTunnelCodes, { id: tunnelId, from: '192.0.2.1' })).toMatchObject({
      ROUTE: 'PASSED PORT_ENTRY',
      OWNER: 'STOPPED OWNER_EXPIRED: EXTEND_OWNER',
      ACCESS: 'PASSED ADDRESS_ALLOWED',
    });

    // What the engine does not know of a host or tunnel, it may know of their client.
    api.engine.wantedHosts.delete(id);
    api.engine.clients.set(clientId, onlineState({ refusals: { offline: 7 } }));
    const counted = z.object({ gates: z.array(z.object({ name: z.string(), refusals: z.array(z.object({ cause: z.string(), count: z.number() })) })) });
    for (const field of ['diagnoseHost(host: "a.com", scheme: HTTP)', `diagnoseTunnel(id: ${tunnelId})`]) {
      const { gates } = counted.parse(await api.record(`{ ${field} { gates { name refusals { cause count } } } }`));
      expect(gates.filter(({ refusals }) => refusals.length > 0)).toEqual([{ name: 'AGENT', refusals: [{ cause: 'OFFLINE', count: 7 }] }]);
    }
  });

  test('targets are only dialed by the agent that is connected, for 5 seconds, and only where TCP is spoken', async () => {
    const api = await openTestSchema(databases, { allowLocalProxy: true });
    const { db } = api.services.store;
    const clientId = await newClient(api);
    const id = await newHost(api, { clientId, host: '*.a.com', targets: ['80'] });
    const dialed = jest.spyOn(api.engine, 'probe');
    const probes = z.object({ probes: z.array(z.object({ target: z.string() })) });
    const probed = async (operation: string, variables: Readonly<Record<string, unknown>>) =>
      probes.parse(await api.record(operation, { probe: true, ...variables })).probes.length;
    const ofHost = () => probed(ask, { host: 'b.a.com', scheme: 'HTTP' });
    expect(await ofHost()).toBe(0);
    api.engine.clients.set(clientId, { ...online, connected: false });
    expect(await ofHost()).toBe(0);
    api.engine.clients.set(clientId, online);
    expect(await ofHost()).toBe(1);
    expect(dialed.mock.calls).toEqual([[clientId, '127.0.0.1:80', 5000]]);
    await db.host.update({ where: { id }, data: { localProxy: true } });
    expect(await ofHost()).toBe(0);
    const ofTunnel = async (data: Partial<Tunnel>) => {
      const tunnel = await db.tunnel.create({ data: { mode: 'tcp', port: 9001, target: '80', password: 'p', ...data, clientId } });
      const count = await probed(askTunnel, { id: tunnel.id });
      await db.tunnel.delete({ where: { id: tunnel.id } });
      return count;
    };
    expect(await ofTunnel({ localProxy: true })).toBe(0);
    api.engine.clients.delete(clientId);
    expect(await ofTunnel({})).toBe(0);
    api.engine.clients.set(clientId, online);
    for (const [mode, count] of [['tcp', 1], ['secret', 1], ['p2p', 1], ['udp', 0], ['socks5', 0], ['httpProxy', 0], ['file', 0]] as const) {
      expect([mode, await ofTunnel({ mode })]).toEqual([mode, count]);
    }
    // A certificate may cover some names below a wildcard, and not others.
    const asked = jest.spyOn(api.engine, 'hostCertificates');
    await diagnosis(api, { host: 'b.a.com', scheme: 'HTTPS' });
    expect(asked.mock.calls).toEqual([[[{ id, name: 'b.a.com' }]]]);
  });

  test('of several tunnels with a port, the first one of the caller; a rule of somebody else that takes a request; a path that is not ASCII', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const [theirs, own] = [await newClient(api), await newClient(api)];
    for (const clientId of [theirs, own, own]) await db.tunnel.create({ data: { clientId, mode: 'udp', port: 9001 } });
    const byPort = '{ diagnoseTunnel(port: 9001) { tunnel { id } } }';
    expect(await api.record(byPort)).toEqual({ tunnel: { id: 1 } });
    expect((await api.run(byPort, {}, { kind: 'client', clientId: own })).data).toEqual({ diagnoseTunnel: { tunnel: { id: 2 } } });

    await db.host.create({ data: { clientId: theirs, host: 'b.a.com', target: '80' } });
    await db.host.create({ data: { clientId: own, host: '*.a.com', target: '80' } });
    const asked = { host: 'b.a.com', scheme: 'HTTP' };
    expect(await codesFor(api, askCodes, asked, { kind: 'client', clientId: own })).toMatchObject({ ROUTE: 'STOPPED RULE_UNUSABLE: ASK_ADMINISTRATOR' });

    const id = await newHost(api, { clientId: own, host: 'c.com', location: '/\u00e4', targets: ['80'] });
    expect(await diagnosis(api, { host: 'c.com', path: '/\u00e4/b' })).toMatchObject({ path: '/\u00e4/b', rule: { id } });
  });

  test('stored settings of a tunnel that have no effect are reported', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    api.engine.clients.set(clientId, online);
    const gate = async (input: object, name: string) => {
      const id = await api.id('mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }', { input: { clientId, ...input } });
      const { gates } = z.object({ gates: z.array(z.looseObject({ name: z.string() })) }).parse(await api.record(askTunnel, { id }));
      return gates.find((each) => each.name === name);
    };
    expect(await gate({ mode: 'FILE' }, 'TARGET')).toMatchObject({ outcome: 'STOPPED', explanation: 'the tunnel has no directory to serve' });
    expect(await gate({ mode: 'FILE', localPath: '/srv' }, 'TARGET')).toMatchObject({
      outcome: 'PASSED',
      explanation: expect.stringMatching(/^it serves \/srv/),
    });
    expect(await gate({ mode: 'P2P', password: 'p', targets: ['1'], proxyProtocol: 'V2' }, 'ROUTE')).toMatchObject({
      explanation: expect.stringMatching(/; a p2p tunnel sends no PROXY protocol header, only tcp and secret tunnels do$/),
    });
    expect(await gate({ mode: 'SECRET', password: 'q', targets: ['1'], proxyProtocol: 'V2' }, 'ROUTE')).toMatchObject({
      explanation: 'visitors connect with the password',
    });
  });
});
