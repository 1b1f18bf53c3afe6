import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';

/** Where a certificate and its key are. */
interface Files {
  readonly certificate: string;
  readonly key: string;
}

/** What a TLS server needs to change its certificate. */
export interface SecureServer {
  setSecureContext(options: { readonly cert: string; readonly key: string }): void;
}

/** Gives the certificate in files to a TLS server whenever they have changed. A pair that can't be used leaves the previous one in use. */
export class CertificateFiles {
  readonly #files: Files;
  readonly #server: SecureServer;
  readonly #log: Logger;
  #seen = '';
  #problem = '';

  constructor(files: Files, server: SecureServer, log: Logger) {
    this.#files = files;
    this.#server = server;
    this.#log = log;
  }

  /** Reads the files. Reports a problem once, until it is another one. */
  async look(): Promise<void> {
    try {
      const [cert, key] = await Promise.all([readFile(this.#files.certificate, 'utf8'), readFile(this.#files.key, 'utf8')]);
      if (`${cert}${key}` === this.#seen) return;
      // Between two writes, the files may not belong together.
      if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) throw new Error('the key is not that of the certificate');
      this.#server.setSecureContext({ cert, key });
      if (this.#seen !== '') this.#log.info({ file: this.#files.certificate }, 'the certificate of the API was replaced');
      this.#seen = `${cert}${key}`;
      this.#problem = '';
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== this.#problem) {
        this.#log.warn({ file: this.#files.certificate, problem }, 'the certificate of the API can not be used: the previous one stays in use');
      }
      this.#problem = problem;
    }
  }
}
