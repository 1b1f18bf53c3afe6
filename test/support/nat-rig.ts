import { execFile } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { Child } from './child.ts';
import { programPath } from './find-program.ts';
import { signedNow } from './processes.ts';
import { scratchDirectory } from './scratch.ts';

const root = path.resolve(import.meta.dirname, '../..');
const script = path.join(import.meta.dirname, 'nat-rig/rig.sh');
const peerScript = path.join(import.meta.dirname, 'nat-rig/peer.ts');
const program = path.join(root, 'dist/main.js');
const tsx = pathToFileURL(path.join(root, 'node_modules/tsx/dist/esm/index.mjs')).href;
const withoutUdx = pathToFileURL(path.join(import.meta.dirname, 'nat-rig/without-udx.mjs')).href;
const password = 'the password of the visitor';
const server = '203.0.113.1';
const httpPort = 8080;

/** The kinds of NAT that the rig can be; see rig.sh. */
export const natTypes = ['full', 'addr', 'port', 'rej', 'sym', 'block'] as const;
/** @see natTypes */
export type NatType = (typeof natTypes)[number];
/** A place in the rig. */
export type RigHost = 'srv' | 'visitor' | 'agent';

const added = z.object({ status: z.literal(1), id: z.number() });
const aimed = z.object({ data: z.object({ updateTunnel: z.object({ id: z.string() }) }) });
const runtime = z.object({
  data: z.object({
    tunnel: z.object({ runtime: z.object({ inletBytes: z.number(), exportBytes: z.number(), visitors: z.array(z.object({ path: z.string() })) }) }),
  }),
});

/** A connection through the tunnel, made by peer.ts. */
export interface Use {
  /** The first line that it prints: what came of it. */
  outcome(): Promise<string>;
  /** Resolves when it has printed such a line. */
  says(text: string): Promise<void>;
  /** Tells it to go on, or what to send. */
  tell(text: string): void;
}

/** A server, and a visitor and an agent behind a NAT each, all in network namespaces of their own. */
export class NatRig {
  readonly #prefix = `adit${process.pid}`;
  #tunnelId = 0;
  #uses = 0;
  #sentBefore = 0;
  #server: Child | undefined;
  #peer: Child | undefined;
  #target: Child | undefined;
  #targetPort = 0;

  /** Builds the rig and starts a server, with a p2p tunnel to a target beside the agent. */
  static async up(): Promise<NatRig> {
    const rig = new NatRig();
    await rig.#rig('down');
    await rig.#rig('up');
    const started = rig.run('srv', [process.execPath, program, 'server'], {
      ADIT_DATA_DIR: scratchDirectory(),
      ADIT_HTTP_PORT: String(httpPort),
      ADIT_BRIDGE_HOST: server,
      ADIT_AUTH_KEY: 'the key of the processes',
    });
    const [target, peer] = [
      rig.run('agent', [process.execPath, '--import', tsx, peerScript, 'target']),
      rig.run('visitor', [process.execPath, '--import', tsx, peerScript, 'visitor']),
    ];
    const [, [, port]] = await Promise.all([started.says(/API +http/), target.says(/port (\d+)/), peer.says(/ready/)]);
    rig.#server = started;
    rig.#peer = peer;
    rig.#target = target;
    rig.#targetPort = Number(port);
    const { id } = added.parse(await rig.#call('/client/add/', { vkey: 'the key of the agent', remark: 'rig' }));
    const tunnel = added.parse(await rig.#call('/index/add/', { client_id: id, type: 'p2p', target: `127.0.0.1:${port}`, password }));
    rig.#tunnelId = tunnel.id;
    return rig;
  }

  /** Bytes that the target has written to a download that was begun last, so far. */
  get sent(): number {
    return Number(this.#target?.output.slice(this.#sentBefore).match(/sent (\d+)/g)?.at(-1)?.slice(5) ?? 0);
  }

  get server(): Child {
    if (!this.#server) throw new Error('the rig is not up');
    return this.#server;
  }

  /** Takes everything down. Its programs must have ended. */
  async down(): Promise<void> {
    await this.#rig('down');
  }

  /** Makes the visitor's and the agent's NAT of these types; what went through them before is forgotten. */
  async nats(visitor: NatType, agent: NatType): Promise<void> {
    await this.#rig('nat', 'a', visitor);
    await this.#rig('nat', 'b', agent);
  }

  /** Cuts the way between the two NATs; both still reach the server. */
  async cut(): Promise<void> {
    await this.#rig('cut');
  }

  /** Undoes `cut`. */
  async heal(): Promise<void> {
    await this.#rig('heal');
  }

  /** Starts a program in the rig. */
  run(host: RigHost, command: readonly string[], environment: Readonly<Record<string, string>> = {}): Child {
    return new Child(programPath('ip'), ['netns', 'exec', `${this.#prefix}-${host}`, ...command], environment);
  }

  /** Starts the agent and waits until it is connected. */
  async agent(udx = true): Promise<Child> {
    const child = this.run('agent', this.#adit(udx, 'agent', '--server', `${server}:8024`), { ADIT_VKEY: 'the key of the agent' });
    await child.says(/connected to/);
    return child;
  }

  /** Starts the visitor, which says everything that it tries, and waits until it is connected. */
  async visitor(udx = true): Promise<{ readonly child: Child; readonly port: number }> {
    const words = ['visit', '--server', `${server}:8024`, '--type', 'p2p', '--listen', '0', '--log-level', 'debug'];
    const child = this.run('visitor', this.#adit(udx, ...words), { ADIT_VISIT_PASSWORD: password });
    const [, port] = await child.says(/listening on 127\.0\.0\.1:(\d+)/);
    await child.says(/connected to/);
    return { child, port: Number(port) };
  }

  #adit(udx: boolean, ...words: readonly string[]): string[] {
    return [process.execPath, ...(udx ? [] : ['--import', withoutUdx]), program, ...words];
  }

  /** Uses the visitor's port as peer.ts says. @returns what the other end of the tunnel answered, or why it failed */
  async use(port: number, what: 'download' | 'upload' | 'stop' | 'echo', bytes = 0): Promise<Use> {
    const name = `use${++this.#uses}`;
    const peer = this.#peer;
    if (!peer) throw new Error('the rig is not up');
    this.#sentBefore = this.#target?.output.length ?? 0;
    peer.type(`${name} ${what} ${port} ${bytes}\n`);
    if (what === 'echo') await peer.says(new RegExp(`^${name} open$`, 'm'));
    return {
      outcome: async () => (await peer.says(new RegExp(`^${name} (.*)$`, 'm')))[1] ?? '',
      says: async (text) => void await peer.says(new RegExp(`^${name} ${text}$`, 'm')),
      tell: (text) => peer.type(`${name} say ${text}\n`),
    };
  }

  /** What GraphQL says of the tunnel. */
  async tunnel(): Promise<{ readonly inletBytes: number; readonly exportBytes: number; readonly visitors: readonly { readonly path: string }[] }> {
    const query = `{ tunnel(id: ${this.#tunnelId}) { runtime { inletBytes exportBytes visitors { path } } } }`;
    return runtime.parse(await this.#graphql(query)).data.tunnel.runtime;
  }

  /** Leads the tunnel to another port of the agent's machine; without one, to the usual target. */
  async aim(port = this.#targetPort): Promise<void> {
    const query = `mutation { updateTunnel(id: ${this.#tunnelId}, input: { targets: ["127.0.0.1:${port}"] }) { id } }`;
    aimed.parse(await this.#graphql(query));
  }

  async #graphql(query: string): Promise<unknown> {
    const { auth_key, timestamp } = signedNow();
    return this.#curl(
      '--header',
      'content-type: application/json',
      '--data',
      JSON.stringify({ query }),
      `http://127.0.0.1:${httpPort}/graphql?auth_key=${auth_key}&timestamp=${timestamp}`,
    );
  }

  async #call(route: string, parameters: Readonly<Record<string, string | number>>): Promise<unknown> {
    const fields = Object.entries({ ...signedNow(), ...parameters }).flatMap(([name, value]) => ['--data-urlencode', `${name}=${value}`]);
    return this.#curl(...fields, `http://127.0.0.1:${httpPort}${route}`);
  }

  async #curl(...words: readonly string[]): Promise<unknown> {
    const { stdout } = await promisify(execFile)(programPath('ip'), [
      'netns',
      'exec',
      `${this.#prefix}-srv`,
      programPath('curl'),
      '--silent',
      '--max-time',
      '5',
      ...words,
    ]);
    return JSON.parse(stdout);
  }

  async #rig(...words: readonly string[]): Promise<void> {
    await promisify(execFile)('bash', [script, ...words], { env: { ...process.env, RIG_PREFIX: this.#prefix } });
  }
}
