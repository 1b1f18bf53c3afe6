import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sign } from '../../src/legacy/signature.ts';
import { covering, other } from './certificates.ts';
import type { Child } from './child.ts';
import { Planted, type Outcome } from './planted.ts';
import { cheapHashes, startServer, type ServerProcess } from './processes.ts';
import { scratchDirectory } from './scratch.ts';

/** Who calls: the headers, and what the calls are signed with. */
export interface Caller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly authKey?: string;
}

/** Parameters, settings or headers. */
export type Sent = Readonly<Record<string, string>>;

function signed({ authKey }: Caller): Sent {
  const timestamp = Math.floor(Date.now() / 1000);
  return authKey === undefined ? {} : { 'x-adit-auth-key': sign(authKey, timestamp), 'x-adit-timestamp': String(timestamp) };
}

const lineOf = (pem: string): string => pem.split('\n')[1] ?? '';

/** A run of the whole program with secrets in every place that can hold one. */
export class PlantedRun {
  readonly planted = new Planted();
  /** Answers, as they came. */
  readonly answers: Outcome[] = [];
  readonly secrets = Object.fromEntries(([
    'authKey',
    'adminPassword',
    'userPassword',
    'newPassword',
    'wrongPassword',
    'basicPassword',
    'webPassword',
    'ipWhitePassword',
    'vkey',
    'tunnelPassword',
    'header',
    'databasePassword',
    'wrong token',
    'wrong cookie',
    'wrong vkey',
  ] as const).map((name) => [name, this.planted.make(name)]));
  readonly cryptKey = this.planted.add('authCryptKey', 'plantedCryptKey1');
  readonly files = scratchDirectory();
  #server: ServerProcess | undefined;
  #calls = 0;

  constructor() {
    this.planted.add('hostKey', lineOf(other.key));
    this.planted.add('platformKey', lineOf(covering.key));
    for (const [name, text] of [['c.pem', covering.certificate], ['k.pem', covering.key]] as const) writeFileSync(path.join(this.files, name), text);
  }

  /** A secret by its name. */
  secret(name: string): string {
    const secret = this.secrets[name];
    if (secret === undefined) throw new Error(`no secret is called ${name}`);
    return secret;
  }

  /** The server, once it is started. */
  get server(): ServerProcess {
    if (this.#server === undefined) throw new Error('the server is not started');
    return this.#server;
  }

  /** A number that no call has had before. */
  get next(): number {
    return ++this.#calls;
  }

  /** Starts the server with secrets in all settings that are some, its log as talkative as can be. */
  async start(environment: Sent = {}): Promise<void> {
    this.#server = await startServer({
      environment: {
        ADIT_LOG_LEVEL: 'trace',
        ADIT_AUTH_KEY: this.secret('authKey'),
        ADIT_AUTH_CRYPT_KEY: this.cryptKey,
        ADIT_ADMIN_PASSWORD: this.secret('adminPassword'),
        ADIT_ALLOW_VKEY_LOGIN: 'true',
        ...cheapHashes,
        ...environment,
      },
    });
    for (const file of readdirSync(this.server.dataDir).filter((name) => name.endsWith('.pem'))) {
      const [key] = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*/.exec(readFileSync(path.join(this.server.dataDir, file), 'utf8')) ?? [];
      if (key !== undefined) this.planted.add(`bridge key in ${file}`, lineOf(key));
    }
  }

  /** The administrator, who signs. */
  get admin(): Caller {
    return { name: 'signature', headers: {}, authKey: this.secret('authKey') };
  }

  async #fetch(where: string, url: string, init: RequestInit): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${this.server.httpPort}${url}`, { redirect: 'manual', ...init });
    const body = await response.text();
    const headers = [...response.headers].filter(([name]) => !(name === 'set-cookie' && url.startsWith('/login/verify'))).map((pair) => pair.join(': '));
    this.answers.push({ where: `${where}, headers`, text: headers.join('\n') }, { where, text: body });
    const [cookie = ''] = response.headers.get('set-cookie')?.split(';') ?? [];
    return url.startsWith('/login/verify') ? cookie : body;
  }

  /** A legacy call; each goes in another encoding than the one before. */
  call(caller: Caller, route: string, sent: Sent = {}, method = 'POST'): Promise<string> {
    const timestamp = Math.floor(Date.now() / 1000);
    const all = { ...sent, ...(caller.authKey && { auth_key: sign(caller.authKey, timestamp), timestamp: String(timestamp) }) };
    const where = `${method} ${route} as ${caller.name} with ${Object.keys(sent).join(', ')}`;
    const query = `${route}?${new URLSearchParams(all).toString()}`;
    if (method === 'GET') return this.#fetch(where, query, { method, headers: caller.headers });
    const form = new FormData();
    for (const [name, value] of Object.entries(all)) form.append(name, value);
    const bodies: RequestInit[] = [{ body: new URLSearchParams(all) }, { body: form }, {
      body: JSON.stringify(all),
      headers: { 'content-type': 'application/json' },
    }];
    // A request line of 16 KB is refused before anybody of ours sees it.
    const shape = bodies[this.next % (query.length < 8000 ? 4 : 3)];
    return shape === undefined
      ? this.#fetch(where, query, { method, headers: caller.headers })
      : this.#fetch(where, route, { method, ...shape, headers: { ...shape.headers, ...caller.headers } });
  }

  /** A GraphQL call; a text is sent as it is. */
  graphql(caller: Caller, where: string, body: object | string): Promise<string> {
    return this.#fetch(`graphql as ${caller.name}: ${where}`, '/graphql', {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...signed(caller), ...caller.headers },
    });
  }

  /** Subscribes, and waits until it is begun. @returns what ends it and adds what came to the answers */
  async subscribe(caller: Caller, where: string, body: object): Promise<() => Promise<void>> {
    const ended = new AbortController();
    const response = await fetch(`http://127.0.0.1:${this.server.httpPort}/graphql`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: ended.signal,
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...signed(caller) },
    });
    const reported = this.#reported(where, response).catch((error: unknown) => {
      if (!ended.signal.aborted) this.answers.push({ where: `subscription ${where}`, text: `broke off: ${String(error)}` });
    });
    return async () => {
      ended.abort();
      await reported;
    };
  }

  async #reported(where: string, { body }: Response): Promise<void> {
    let text = '';
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        this.answers.push({
          where: `subscription ${where}`,
          text: block.split('\n').filter((line) => line.startsWith('data:')).map((line) => line.slice(5)).join(''),
        });
      }
    }
  }

  /** Opens a page. */
  get(caller: Caller, url: string, headers: Sent = {}): Promise<string> {
    return this.#fetch(`GET ${url} as ${caller.name}`, url, { headers: { ...caller.headers, ...headers } });
  }

  /** Logs in. @returns a caller with the cookie, which is planted from now on */
  async logIn(name: string, username: string, password: string): Promise<Caller> {
    const cookie = await this.call({ name, headers: {} }, '/login/verify', { username, password });
    this.planted.add(`cookie ${name}`, cookie.split('=')[1] ?? '');
    return { name, headers: { cookie } };
  }

  /** A caller with the token that an answer holds, which is planted from now on. */
  token(name: string, answer: string): Caller {
    const token = this.planted.add(`token ${name}`, /adit_[\w-]+/.exec(answer)?.[0] ?? '');
    return { name, headers: { authorization: `Bearer ${token}` } };
  }

  /** Everything that was said, answers without what they may show, with the secrets it holds. */
  leaks(children: readonly Child[]): string[] {
    const reported = [
      ...this.answers.map(({ where, text }) => ({ where, found: this.planted.inAnswer(text) })),
      ...children.map(({ output }, index) => ({ where: `output of program ${index}`, found: this.planted.in(output) })),
    ];
    return reported.filter(({ found }) => found.length > 0).map(({ where, found }) => `${where}: ${found.join(', ')}`);
  }
}
