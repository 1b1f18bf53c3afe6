import { expect, test } from '@jest/globals';
import { curl } from '../support/curl.ts';
import { eventually } from '../support/eventually.ts';
import { LOGIN, startProxy } from '../support/http-proxy.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { describeWith, describeWithIpv6 } from '../support/programs.ts';
import { refusedPort } from '../support/target.ts';
import { openTunnel, startAgent, startEngine } from '../support/tunnel.ts';

describeWith('curl', 'curl through httpProxy', () => {
  test('fetches by name and by address, and the target sees an ordinary request', async () => {
    const { port } = await startProxy();
    const target = await startHttpTarget();
    for (const host of ['localhost', '127.0.0.1']) {
      const url = `http://${host}:${target.port}/a/../b%20c?d=e`;
      const { code, stdout } = await curl([
        '--path-as-is',
        '-x',
        `http://127.0.0.1:${port}`,
        url,
        '-H',
        'Connection: X-Private',
        '-H',
        'X-Private: 1',
        '-H',
        'X-Kept: 1',
      ]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'GET /a/../b%20c?d=e ' });
      const { headers } = target.requests.at(-1) ?? {};
      expect(headers).toMatchObject({ host: `${host}:${target.port}`, 'x-kept': '1' });
      expect(Object.keys(headers ?? {})).not.toEqual(expect.arrayContaining(['x-private']));
      expect(Object.keys(headers ?? {}).filter((name) => name.startsWith('proxy'))).toEqual([]);
    }
  });

  test('sends bodies by length and in chunks', async () => {
    const { port } = await startProxy();
    const target = await startHttpTarget();
    const body = 'x'.repeat(300_000);
    for (const [header, name] of [['Transfer-Encoding: chunked', 'transfer-encoding'], ['X-None: 1', 'content-length']] as const) {
      const { stdout } = await curl(['-x', `http://127.0.0.1:${port}`, '-H', header, '--data-binary', '@-', `http://127.0.0.1:${target.port}/`], body);
      expect(stdout).toBe(`POST / ${body}`);
      expect(target.requests.at(-1)?.headers[name]).toBeDefined();
    }
  });

  test('keeps its connection for several requests, also to several hosts, and the target its own', async () => {
    const { server, port, id } = await startProxy();
    const [one, two] = [await startHttpTarget(), await startHttpTarget()];
    const urls = [`http://127.0.0.1:${one.port}/1`, `http://127.0.0.1:${one.port}/2`, `http://127.0.0.1:${two.port}/3`, `http://127.0.0.1:${one.port}/4`];
    const { stdout } = await curl(['-x', `http://127.0.0.1:${port}`, '-w', '%{num_connects} ', ...urls]);
    expect(stdout).toBe('GET /1 1 GET /2 0 GET /3 0 GET /4 0 ');
    expect([one.connections, two.connections]).toEqual([2, 1]);
    await eventually(() => server.engine.tunnelState(id)?.connections, (open) => open === 0);
  });

  test('asks for one of the accounts of the proxy, which replace the login of the client', async () => {
    const { server, port } = await startProxy({}, { accounts: [{ user: 'alice', password: 'hers' }] });
    const target = await startHttpTarget();
    const status = async (login: string) =>
      (await curl(['-o', '/dev/null', '-w', '%{http_code}', '-x', `http://${login}127.0.0.1:${port}`, `http://127.0.0.1:${target.port}/`])).stdout;
    expect(await status('')).toBe('407');
    await server.engine.apply({ kind: 'client', client: LOGIN });
    expect(await status('alice:hers@')).toBe('200');
    for (const login of [`${LOGIN.basicUser}:${encodeURIComponent(LOGIN.basicPassword)}@`, 'alice:wrong@', '']) expect(await status(login)).toBe('407');
    expect(target.requests).toHaveLength(1);
  });

  test('reaches a TLS server by CONNECT', async () => {
    const { port } = await startProxy();
    const target = await startHttpTarget({ tls: true });
    const { code, stdout } = await curl(['-k', '-x', `http://127.0.0.1:${port}`, `https://localhost:${target.port}/s`, `https://localhost:${target.port}/t`]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'GET /s GET /t ' });
    expect(target.connections).toBe(1);
  });

  test('has to log in where the client has user name and password', async () => {
    const { server, port, id } = await startProxy();
    await server.engine.apply({ kind: 'client', client: LOGIN });
    const target = await startHttpTarget();
    const [plain, secure] = [`http://127.0.0.1:${target.port}/`, `https://127.0.0.1:${target.port}/`];
    const status = async (...args: string[]) =>
      (await curl(['-x', `http://127.0.0.1:${port}`, '-o', '/dev/null', '-w', '%{http_code} %{http_connect}', ...args])).stdout;
    expect(await status(plain)).toBe('407 000');
    expect(await status(secure)).toBe('000 407');
    expect(await status('--proxy-user', 'mé:wrong', plain)).toBe('407 000');
    expect(await status('--proxy-user', 'mé:pass:wörd', plain)).toBe('200 000');
    expect(target.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
    expect(await status('--proxy-anyauth', '--proxy-user', 'mé:pass:wörd', plain)).toBe('200 000');
    expect(server.engine.tunnelState(id)?.refusals).toEqual({ login: 1 });
    await server.engine.apply({ kind: 'client', client: { ...LOGIN, basicPassword: '' } });
    expect(await status(plain)).toBe('200 000');
  });

  test('gets an error with the reason if a target cannot be reached', async () => {
    const server = await startEngine({ proxyTiming: { dialMs: 200 } });
    await startAgent(server);
    const { port } = await openTunnel(server, { mode: 'httpProxy' });
    const refused = await refusedPort();
    const { stdout } = await curl(['-i', '-x', `http://127.0.0.1:${port}`, `http://127.0.0.1:${refused}/`]);
    expect(stdout).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n[^]*\r\n\r\n502 Bad Gateway\n\nThe target refused the connection\.\n$/);
    const { stdout: unknown } = await curl(['-i', '-x', `http://127.0.0.1:${port}`, 'http://no-such-name.invalid/']);
    expect(unknown).toMatch(/^HTTP\/1\.1 502 [^]*The name of the target is not known/);
    expect((await curl(['-x', `http://127.0.0.1:${port}`, '-w', '%{http_connect}', `https://127.0.0.1:${refused}/`])).stdout).toBe('502');
  });
});

describeWith('curl', 'curl over IPv6', () =>
  describeWithIpv6('through httpProxy', () => {
    test('reaches targets, from a listener on one address', async () => {
      const { port } = await startProxy({}, { serverIp: '::1' });
      const [target, secure] = [await startHttpTarget({ host: '::1' }), await startHttpTarget({ host: '::1', tls: true })];
      expect((await curl(['-x', `http://[::1]:${port}`, `http://[::1]:${target.port}/six`])).stdout).toBe('GET /six ');
      expect((await curl(['-k', '-x', `http://[::1]:${port}`, `https://[::1]:${secure.port}/tls`])).stdout).toBe('GET /tls ');
      expect((await curl(['-x', `http://127.0.0.1:${port}`, `http://[::1]:${target.port}/`])).code).not.toBe(0);
    });
  }));
