import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import tls from 'node:tls';
import { makeCertificate } from './certificates.ts';
import { Child } from './child.ts';
import { programPath } from './find-program.ts';
import { freePortRange } from './free-port.ts';

/** Debian's `pebble`, an ACME server for tests, with a name server that leads every name to this machine. */
export class Pebble {
  /** Its directory, and the PEM of its own TLS certificate. */
  readonly directory: string;
  readonly ca: string;
  /** The same in a file. */
  readonly caFile: string;
  readonly #dir: string;
  readonly #port: number;
  readonly #dnsPort: number;
  readonly #managePort: number;
  #names: Child | undefined;
  #server: Child | undefined;

  private constructor(dir: string, port: number, dnsPort: number, managePort: number, ca: string) {
    this.directory = `https://localhost:${port}/dir`;
    this.ca = ca;
    this.caFile = path.join(dir, 'pebble.pem');
    this.#dir = dir;
    this.#port = port;
    this.#dnsPort = dnsPort;
    this.#managePort = managePort;
  }

  /** @param httpPort where it looks for the answers to challenges */
  static async start(dir: string, httpPort: number): Promise<Pebble> {
    const { certificate, key } = await makeCertificate(['localhost']);
    const port = await freePortRange(3);
    const pebble = new Pebble(dir, port, port + 1, port + 2, certificate);
    mkdirSync(dir, { recursive: true });
    writeFileSync(pebble.caFile, certificate);
    writeFileSync(path.join(dir, 'key.pem'), key);
    writeFileSync(
      path.join(dir, 'config.json'),
      JSON.stringify({
        pebble: {
          listenAddress: `127.0.0.1:${port}`,
          managementListenAddress: '',
          certificate: pebble.caFile,
          privateKey: path.join(dir, 'key.pem'),
          httpPort,
          tlsPort: 1,
          ocspResponderURL: '',
          externalAccountBindingRequired: false,
        },
      }),
    );
    await pebble.#startNames();
    await pebble.resume();
    return pebble;
  }

  async #startNames(): Promise<void> {
    this.#names = new Child(programPath('pebble-challtestsrv'), [
      '-dns01',
      `127.0.0.1:${this.#dnsPort}`,
      '-management',
      `127.0.0.1:${this.#managePort}`,
      '-http01',
      '',
      '-https01',
      '',
      '-tlsalpn01',
      '',
      '-defaultIPv4',
      '127.0.0.1',
      '-defaultIPv6',
      '',
    ]);
    await listening(this.#managePort);
  }

  /** Starts it, or starts it again: all it knew is gone then, accounts included. */
  async resume(): Promise<void> {
    this.#server = new Child(programPath('pebble'), ['-config', path.join(this.#dir, 'config.json'), '-dnsserver', `127.0.0.1:${this.#dnsPort}`], {
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_AUTHZREUSE: '0',
    });
    await listening(this.#port);
  }

  /** Nobody reaches it until it is resumed. */
  async suspend(): Promise<void> {
    await this.#server?.end();
  }

  /** Where a name leads to from now on. */
  async lead(name: string, address: string): Promise<void> {
    const url = `http://127.0.0.1:${this.#managePort}`;
    const body = (more: object) => ({ method: 'POST', body: JSON.stringify({ host: name, ...more }) });
    await fetch(`${url}/clear-a`, body({}));
    const { status } = await fetch(`${url}/add-a`, body({ addresses: [address] }));
    if (status !== 200) throw new Error(`the name server answered ${status}`);
  }

  /** How many orders were begun. */
  get orders(): number {
    return this.#server?.output.match(/There are now \d+ orders in the db/g)?.length ?? 0;
  }

  /** How many accounts were made. */
  get accounts(): number {
    return this.#server?.output.match(/There are now \d+ accounts in memory/g)?.length ?? 0;
  }

  /** What it has printed. */
  get output(): string {
    return this.#server?.output ?? '';
  }

  async stop(): Promise<void> {
    await Promise.all([this.#server?.end(), this.#names?.end()]);
  }
}

/** Resolves when somebody listens on the port. */
async function listening(port: number): Promise<void> {
  for (;;) {
    const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    try {
      await once(socket, 'connect');
      return;
    } catch {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    } finally {
      socket.on('error', () => undefined);
      socket.destroy();
    }
  }
}
