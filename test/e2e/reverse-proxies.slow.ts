import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { covering } from '../support/certificates.ts';
import { Child, endChildren } from '../support/child.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { freePortRange } from '../support/free-port.ts';
import { programPath } from '../support/find-program.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { signedNow, type ServerProcess, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';
import { serve } from '../support/served.ts';
import { refusal } from '../support/target.ts';

// Short form: test/engine/vhost/proxied.test.ts

afterEach(endChildren);
afterAll(removeScratchDirectories);

/** The visitor. */
const ADDRESS = '127.0.0.5';
const PANEL = 'panel.example.com';
const HOST = 'a.p.example.com';
const password = 'the password of the tests';
/** Over HTTPS and over HTTP. */
const visitors = [[ADDRESS, 'https'], [ADDRESS, 'http']];

/** The configurations in the document, in a language. */
function configurations(language: string): string[] {
  const document = readFileSync('docs/reverse-proxy.md', 'utf8');
  return [...document.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text ?? '');
}

interface Ports {
  readonly plain: number;
  readonly secure: number;
}

/** A configuration for ports and files of the test instead of the system's. Each that is replaced has to be in it. */
function adapted(configuration: string, replacements: Readonly<Record<string, string>>): string {
  let changed = configuration;
  for (const [from, to] of Object.entries(replacements)) {
    if (!configuration.includes(from)) throw new Error(`the configuration has no ${from}`);
    changed = changed.replaceAll(from, to);
  }
  return changed;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** A request as a visitor makes it, to one of the proxy's ports. */
function request(
  port: number,
  host: string,
  url: string,
  { secure = true, body = '', headers = {} }: { secure?: boolean; body?: string; headers?: Record<string, string> } = {},
): http.ClientRequest {
  const options = {
    host: '127.0.0.1',
    port,
    localAddress: ADDRESS,
    path: url,
    agent: false,
    method: body === '' ? 'GET' : 'POST',
    headers: { host: `${host}:${port}`, ...headers },
  };
  const made = secure ? https.request({ ...options, servername: host, rejectUnauthorized: false }) : http.request(options);
  return made.end(body);
}

async function ask(...args: Parameters<typeof request>): Promise<Answer> {
  const made = request(...args);
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    made.on('response', resolve).on('error', reject);
  });
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/**
 * Runs the panel and a host behind a proxy, and makes every kind of request that the document promises to work.
 * @returns what the host's target receives about its visitors
 */
async function visitorsBehind(start: (server: ServerProcess, ports: Ports, panelPort: number) => Child): Promise<unknown> {
  const target = await startHttpTarget();
  const { server, clientId } = await serve('127.0.0.1:1', { environment: { ADIT_TRUSTED_PROXIES: '127.0.0.1', ADIT_ADMIN_PASSWORD: password } });
  for (const scheme of ['http', 'https']) {
    await write(server, '/index/addhost/', {
      client_id: clientId,
      host: HOST,
      scheme,
      target: `127.0.0.1:${target.port}`,
      ...(scheme === 'https' && { cert_file_path: covering.certificate, key_file_path: covering.key }),
    });
  }
  const [plain, secure, panelPort] = await ports();
  const proxy = start(server, { plain, secure }, panelPort);
  await eventuallyAsync(() => refusal(secure), (why) => why === '' || proxy.over);
  expect(proxy.output).not.toMatch(/emerg|ALERT/);

  // The API: signed, and by a browser with a session.
  const signature = new URLSearchParams(Object.entries(signedNow()).map(([name, value]) => [name, String(value)])).toString();
  expect(await ask(secure, PANEL, `//client/list/?${signature}`)).toMatchObject({ status: 200, body: expect.stringContaining('"total":1') });
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const login = await ask(secure, PANEL, '/login/verify', {
    body: new URLSearchParams({ username: 'admin', password }).toString(),
    headers: { ...form, origin: `https://${PANEL}:${secure}` },
  });
  expect(login).toMatchObject({ status: 200, headers: { 'set-cookie': [expect.stringMatching(/^__Host-beegosessionID=.*; Secure/)] } });
  const cookie = login.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const graphql = (query: string, headers: Record<string, string> = {}) =>
    [secure, PANEL, '/graphql', {
      body: JSON.stringify({ query }),
      headers: { 'content-type': 'application/json', cookie, origin: `https://${PANEL}:${secure}`, ...headers },
    }] as const;
  expect(await ask(...graphql('{ auditEntries(filter: { resource: SESSION }, limit: 1) { rows { address } } }'))).toMatchObject({
    status: 200,
    body: `{"data":{"auditEntries":{"rows":[{"address":"${ADDRESS}"}]}}}`,
  });
  for (const origin of [`http://${PANEL}:${secure}`, 'https://other.example.com']) {
    expect((await ask(...graphql('{ server { version } }', { origin }))).status).toBe(403);
  }

  // A subscription: each event arrives at once.
  const [events]: http.IncomingMessage[] = await once(
    request(...graphql('subscription { serverTrafficEverySecond { rate } }', { accept: 'text/event-stream' })),
    'response',
  ) as [http.IncomingMessage];
  let reported = '';
  const second = new Promise<void>((resolve) => {
    events?.setEncoding('utf8').on('data', (chunk: string) => {
      if ((reported += chunk).split('"rate"').length > 2) resolve();
    });
  });
  await second;
  events?.destroy();

  // The host: Adit terminates TLS, and the target receives the visitor's address.
  expect(await ask(secure, HOST, '/secure')).toMatchObject({ status: 200, body: 'GET /secure ' });
  expect(await ask(plain, HOST, '/plain', { secure: false })).toMatchObject({ status: 200, body: 'GET /plain ' });
  return target.requests.map(({ headers }) => [headers['x-forwarded-for'], headers['x-forwarded-proto']]);
}

async function ports(): Promise<[number, number, number]> {
  const first = await freePortRange(3);
  return [first, first + 1, first + 2];
}

function certificates(): { readonly pem: string; readonly key: string } {
  const directory = scratchDirectory();
  const [pem, key] = [path.join(directory, 'panel.pem'), path.join(directory, 'panel.key')];
  writeFileSync(pem, covering.certificate + covering.key);
  writeFileSync(key, covering.key);
  return { pem, key };
}

test('the document has the configurations that run here', () => {
  expect([configurations('nginx').length, configurations('haproxy').length, configurations('caddyfile').length]).toEqual([2, 1, 2]);
});

describeWith(['nginx', 'ngx_stream_module.so'], 'nginx as the document has it', () => {
  test('serves panel, subscriptions and hosts', () =>
    expect(visitorsBehind((server, { plain, secure }, panelPort) => {
      const [stream = '', site = ''] = configurations('nginx');
      const directory = scratchDirectory();
      const { pem, key } = certificates();
      const file = path.join(directory, 'nginx.conf');
      const front = adapted(stream, {
        '127.0.0.1:8444': `127.0.0.1:${panelPort}`,
        '127.0.0.1:8443': `127.0.0.1:${server.secureHostsPort}`,
        '127.0.0.1:8000': `127.0.0.1:${server.hostsPort}`,
        'listen 443': `listen 127.0.0.1:${secure}`,
        'listen 80;': `listen 127.0.0.1:${plain};`,
      });
      const inner = adapted(site, {
        '127.0.0.1:8444': `127.0.0.1:${panelPort}`,
        '127.0.0.1:8080': `127.0.0.1:${server.httpPort}`,
        '/etc/ssl/panel.pem': pem,
        '/etc/ssl/panel.key': key,
      });
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`).join(' ');
      writeFileSync(
        file,
        `load_module ${
          programPath('ngx_stream_module.so')
        }; daemon off; master_process off; pid ${directory}/pid; error_log stderr notice; events {}\n${front}\nhttp { access_log off; ${temporary}\n${inner}\n}`,
      );
      return new Child(programPath('nginx'), ['-c', file, '-e', path.join(directory, 'errors')]);
    })).resolves.toEqual(visitors), 60_000);
});

describeWith('haproxy', 'haproxy as the document has it', () => {
  test('serves panel, subscriptions and hosts', () =>
    expect(visitorsBehind((server, { plain, secure }, panelPort) => {
      const [configuration = ''] = configurations('haproxy');
      const file = path.join(scratchDirectory(), 'haproxy.cfg');
      writeFileSync(
        file,
        adapted(configuration, {
          '127.0.0.1:8444': `127.0.0.1:${panelPort}`,
          '127.0.0.1:8443': `127.0.0.1:${server.secureHostsPort}`,
          '127.0.0.1:8000': `127.0.0.1:${server.hostsPort}`,
          '127.0.0.1:8080': `127.0.0.1:${server.httpPort}`,
          'bind :443': `bind 127.0.0.1:${secure}`,
          'bind :80': `bind 127.0.0.1:${plain}`,
          '/etc/ssl/panel.pem': certificates().pem,
        }),
      );
      return new Child(programPath('haproxy'), ['-db', '-f', file]);
    })).resolves.toEqual(visitors), 60_000);
});

describeWith('caddy', 'Caddy as the document has it', () => {
  test('serves panel, subscriptions and a host', () =>
    expect(visitorsBehind((server, { plain, secure }) => {
      const [panel = '', host = ''] = configurations('caddyfile');
      const { pem, key } = certificates();
      const file = path.join(scratchDirectory(), 'Caddyfile');
      const own = `{\n    tls ${pem} ${key}`;
      const sites = [
        adapted(panel, { 'panel.example.com {': `https://${PANEL}:${secure} ${own}`, '127.0.0.1:8080': `127.0.0.1:${server.httpPort}` }),
        adapted(host, { 'app.example.com {': `https://${HOST}:${secure} ${own}`, '127.0.0.1:8000': `127.0.0.1:${server.hostsPort}` }),
        adapted(host, { 'app.example.com {': `http://${HOST}:${plain} {`, '127.0.0.1:8000': `127.0.0.1:${server.hostsPort}` }),
      ];
      // Certificates of its own would need a CA.
      writeFileSync(file, `{\n    admin off\n    auto_https off\n}\n${sites.join('\n')}`);
      return new Child(programPath('caddy'), ['run', '--config', file, '--adapter', 'caddyfile']);
      // It passes requests on, not connections: its own address is the last that they came by.
    })).resolves.toEqual(visitors.map(([address, scheme]) => [`${address}, 127.0.0.1`, scheme])), 60_000);
});
