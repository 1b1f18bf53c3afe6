import path from 'node:path';
import type { Parameter } from '../../src/legacy/parameters.ts';
import type { Route } from '../../src/legacy/route.ts';
import { platformDomainId } from '../../src/rules/platform-domain.ts';
import { other } from './certificates.ts';
import type { RootField } from './every-field.ts';
import type { PlantedRun, Sent } from './planted-run.ts';

/** What a parameter of a legacy route is sent as when it holds a secret; undefined = it doesn't. */
function secretFor(run: PlantedRun, route: string, name: string): string | undefined {
  switch (name) {
    case 'password':
      return run.secret(route.startsWith('/index/') ? 'tunnelPassword' : route === '/login/verify' ? 'wrongPassword' : 'userPassword');
    case 'new_password':
    case 'confirm_password':
    case 'password_confirm':
      return run.secret('newPassword');
    case 'current_password':
    case 'old_password':
      return run.secret('userPassword');
    case 'p':
      return run.secret('basicPassword');
    case 'web_password':
      return run.secret('webPassword');
    case 'ipwhitepass':
      return run.secret('ipWhitePassword');
    case 'vkey':
      return route === '/client/add' ? run.planted.make(`vkey ${run.next}`) : run.secret('vkey');
    case 'header':
      return `X-Planted: ${run.secret('header')}`;
    case 'key_file_path':
      return other.key;
    default:
      return undefined;
  }
}

/** What any other is sent as: something that is accepted. */
function textFor(run: PlantedRun, route: string, name: string, { kind, choices }: Parameter<unknown>): string {
  const texts: Sent = {
    id: /del|revoke/.test(route) ? '99' : route.startsWith('/user/') ? '2' : '1',
    type: 'tcp',
    username: `user${run.next}`,
    web_username: `web${run.next}`,
    cert_file_path: other.certificate,
    host: `h${run.next}.example.org`,
    location: '/x',
    server_ip: '127.0.0.1',
    target: '127.0.0.1:1',
    search: '',
    serverUrl: 'http://x',
    port: '0',
    platform_domain_id: platformDomainId('*.p.example.com', new Set()),
    platform_domains: JSON.stringify([{
      Wildcard: '*.p.example.com',
      CertFilePath: path.join(run.files, 'c.pem'),
      KeyFilePath: path.join(run.files, 'k.pem'),
    }]),
  };
  const byKind = { id: '1', text: 'x', integer: '0', boolean: '1', list: '192.0.2.1', time: '2100-01-01', choice: choices?.[0] ?? '' };
  return texts[name] ?? byKind[kind];
}

/** All parameters of a route, secrets in each that holds one. */
export function parametersFor(run: PlantedRun, { path: route, parameters }: Route): Sent {
  return Object.fromEntries(Object.entries(parameters).map(([name, parameter]) => [name, secretFor(run, route, name) ?? textFor(run, route, name, parameter)]));
}

/** The names of a route's parameters that hold secrets. */
export function secretNames(run: PlantedRun, { path: route, parameters }: Route): string[] {
  return Object.keys(parameters).filter((name) => secretFor(run, route, name) !== undefined);
}

/** What an argument or input field of GraphQL is sent as, of a list each item; undefined = any value of its type. */
export function fieldValue(run: PlantedRun, { field }: RootField, name: string): unknown {
  // What narrows a list down to nothing would hide what it shows.
  if (['search', 'filter', 'to', 'probe', 'clearWebLogin'].includes(name)) return null;
  if (name.startsWith('platform') && field.name.endsWith('Host')) return null;
  if (name === 'id' && field.name === 'updateGlobalSettings') return null;
  if (name === 'platformDomainId') return platformDomainId('*.p.example.com', new Set());
  const values: Readonly<Record<string, unknown>> = {
    password: run.secret(field.name.includes('Tunnel') ? 'tunnelPassword' : 'userPassword'),
    newPassword: run.secret('newPassword'),
    confirmation: run.secret('newPassword'),
    currentPassword: run.secret('userPassword'),
    basicPassword: run.secret('basicPassword'),
    webPassword: run.secret('webPassword'),
    allowlistPassword: run.secret('ipWhitePassword'),
    verifyKey: field.name === 'createClient' && name === 'verifyKey' ? run.planted.make(`vkey ${run.next}`) : run.secret('vkey'),
    privateKey: other.key,
    certificate: other.certificate,
    headers: `X-Planted: ${run.secret('header')}`,
    id: /delete|revoke/.test(field.name) ? 99 : field.name.includes('User') ? 2 : 1,
    limit: 5,
    offset: 0,
    port: null,
    mode: field.name.includes('Host') ? 'CUSTOM' : 'TCP',
    username: `user${run.next}`,
    webUsername: `web${run.next}`,
    host: `g${run.next}.example.org`,
    targets: '127.0.0.1:1',
    serverIp: '127.0.0.1',
    visitorAddress: '127.0.0.1',
    location: '/g',
    blocklist: '192.0.2.1',
    path: '/',
    wildcard: '*.p.example.com',
    certificatePath: path.join(run.files, 'c.pem'),
    privateKeyPath: path.join(run.files, 'k.pem'),
    from: new Date(Date.now() - 60_000).toISOString(),
    enabled: true,
    maxClients: null,
    maxTunnels: null,
    rateLimit: null,
    flowLimit: null,
    maxConnections: null,
  };
  return values[name];
}
