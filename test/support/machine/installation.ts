import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import * as z from 'zod';
import { sign } from '../../../src/legacy/signature.ts';
import type { Child } from '../child.ts';
import { scratchDirectory } from '../scratch.ts';
import type { Machine } from './machine.ts';

/** The server's settings for being reached from other machines: over HTTPS with a certificate of its own. */
export const PUBLIC_SETTINGS = 'http_host = "0.0.0.0"\nhttp_tls = "self-signed"\npublic_url = "https://10.9.0.1:8080"\n';

const secrets = z.object({ authKey: z.string() });
const created = z.object({ data: z.object({ createClient: z.object({ id: z.string() }) }) });
const enrolled = z.object({ data: z.object({ createEnrolment: z.object({ command: z.string() }) }) });
const opened = z.object({ data: z.object({ createTunnel: z.object({ port: z.number() }) }) });

/** A word for a shell. */
const word = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The installation that a test makes: a server on one machine, a client of it, and its agent on another. */
export class Installation {
  readonly #server: Machine;
  readonly #agent: Machine;
  #clientId = '';

  constructor(server: Machine, agent: Machine) {
    this.#server = server;
    this.#agent = agent;
  }

  /** Makes a client. @returns the line that installs its agent */
  async line(): Promise<string> {
    if (this.#clientId === '') this.#clientId = created.parse(await this.#graphql('mutation { createClient(input: {}) { id } }')).data.createClient.id;
    return enrolled.parse(await this.#graphql(`mutation { createEnrolment(input: { clientId: ${this.#clientId} }) { command } }`)).data.createEnrolment.command;
  }

  /** Opens a tunnel to a port of the agent's machine. @returns its port on the server */
  async tunnel(port: number): Promise<number> {
    const input = `{ clientId: ${this.#clientId}, mode: TCP, targets: ["127.0.0.1:${port}"] }`;
    return opened.parse(await this.#graphql(`mutation { createTunnel(input: ${input}) { port } }`)).data.createTunnel.port;
  }

  /** Starts a web server next to the agent. @returns it, and the checksum of what it serves */
  async target(port: number): Promise<{ readonly child: Child; readonly sum: string }> {
    const content = randomBytes(5_000_000);
    const file = path.join(scratchDirectory(), 'content');
    writeFileSync(file, content);
    const script = `require('http').createServer((_, answer) => answer.end(require('fs').readFileSync(${
      JSON.stringify(file)
    }))).listen(${port}, '127.0.0.1', () => console.log('listening'))`;
    const child = this.#agent.start(process.execPath, '-e', script);
    await child.says(/listening/);
    return { child, sum: createHash('sha256').update(content).digest('hex') };
  }

  /** Loads what the target serves through the tunnel, from the agent's machine, as soon as the agent is there. @returns its checksum */
  async load(port: number): Promise<string> {
    // A tunnel without an agent closes the connection.
    const line =
      `curl --silent --show-error --fail --retry 100 --retry-delay 0 --retry-max-time 30 --retry-all-errors --output /tmp/content http://10.9.0.1:${port}/ && sha256sum /tmp/content`;
    return (await this.#agent.do(line)).split(' ')[0] ?? '';
  }

  async #graphql(query: string): Promise<unknown> {
    const { authKey } = secrets.parse(JSON.parse(readFileSync(path.join(this.#server.root, 'var/lib/adit/secrets.json'), 'utf8')));
    const timestamp = Math.floor(Date.now() / 1000);
    const headers = ['content-type: application/json', `x-adit-auth-key: ${sign(authKey, timestamp)}`, `x-adit-timestamp: ${timestamp}`];
    const words = [...headers.flatMap((header) => ['--header', header]), '--data', JSON.stringify({ query }), 'https://127.0.0.1:8080/graphql'];
    return JSON.parse(await this.#server.do(`curl --silent --show-error --insecure ${words.map(word).join(' ')}`));
  }
}
