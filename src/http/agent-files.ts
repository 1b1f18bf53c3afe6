import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import express, { type RequestHandler, type Response, Router } from 'express';
import * as z from 'zod';
import { packageFile } from '../package-file.ts';
import { trustedApi } from '../rules/enrolment.ts';
import { createContext } from '../schema/context.ts';
import { useEnrolment } from '../schema/enrolment/write.ts';
import { AditError } from '../schema/errors.ts';
import type { Services } from '../schema/services.ts';
import type { Settings } from '../settings/settings.ts';

/** The executables that the operator may put into the directory `agent` of the data directory. */
const EXECUTABLES = ['adit-agent-linux-x64', 'adit-agent-linux-arm64'] as const;
const AGENT = 'adit-agent.mjs';

const request = z.object({ code: z.string().min(1).max(200), machine: z.string().trim().min(32).max(200) });

/**
 * Below `/agent`: the agent that matches this server as one file and, if the operator has put them there, as executables; the script that installs it; and `enrol`, which
 * exchanges a code for what an agent needs. None requires authentication, since the files are public and the code is a credential.
 */
export function agentFiles(services: Services, { dataDir }: Pick<Settings, 'dataDir'>): RequestHandler {
  const files = new Map<string, ServedFile>([[AGENT, new ServedFile(fileURLToPath(packageFile(`dist/agent/${AGENT}`)))]]);
  for (const name of EXECUTABLES) files.set(name, new ServedFile(path.join(dataDir, 'agent', name)));
  const template = readFileSync(packageFile('src/http/agent-install/install.sh'), 'utf8');

  const router = Router();
  for (const [name, file] of files) router.get(`/${name}`, (_request, response, next) => file.send(response, next));
  return router
    .get('/install.sh', async (_request, response) => {
      const context = createContext(services, { kind: 'anonymous' });
      const api = trustedApi(services.settings.api, await context.serverName());
      if (api === undefined) {
        plain(
          response,
          409,
          'This server is not known to be reached over HTTPS, so this script could be replaced on its way. createEnrolment says what to do.',
        );
        return;
      }
      const sums = await Promise.all(Array.from(files, async ([name, file]) => [await file.checksum(), name] as const));
      const known = sums.filter(([sum]) => sum !== undefined).map(([sum, name]) => `${sum}  ${name}`);
      const values: Readonly<Record<string, string>> = { URL: api.url, PIN: api.pin, SUMS: known.join('\n') };
      plain(response, 200, template.replaceAll(/@(URL|PIN|SUMS)@/g, (_, name: string) => (values[name] ?? '').replaceAll("'", "'\\''")));
    })
    .post('/enrol', express.urlencoded({ extended: false, limit: '4kb' }), async (received, response) => {
      const body = request.safeParse(received.body);
      if (!body.success) {
        plain(response, 400, 'send the form fields code and machine');
        return;
      }
      const context = createContext(services, { kind: 'anonymous', address: received.ip ?? '' });
      try {
        const { server, fingerprint, vkey } = await useEnrolment(context, body.data.code, body.data.machine);
        plain(response, 200, `server=${server}\nfingerprint=${fingerprint}\nvkey=${vkey}\n`);
      } catch (error) {
        if (!(error instanceof AditError) || error.code !== 'ENROLMENT_REFUSED') throw error;
        plain(response, 403, error.message);
      }
    });
}

function plain(response: Response, status: number, text: string): void {
  response.status(status).set('Cache-Control', 'no-store').type('text').send(text.endsWith('\n') ? text : `${text}\n`);
}

/** A file that machines download. */
class ServedFile {
  readonly #file: string;
  #checked: { readonly version: string; readonly sum: Promise<string> } | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  send(response: Response, next: (error?: unknown) => void): void {
    response.set('Content-Type', 'application/octet-stream').sendFile(
      this.#file,
      { dotfiles: 'allow', cacheControl: false },
      (error?: NodeJS.ErrnoException) => {
        if (error === undefined || response.headersSent) return;
        response.removeHeader('Content-Type');
        next(error.code === 'ENOENT' ? undefined : error);
      },
    );
  }

  /** SHA-256 in hex, computed again when the file has changed; undefined = there is no file. */
  async checksum(): Promise<string | undefined> {
    const found = await stat(this.#file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (found === undefined) return undefined;
    const version = `${found.ino} ${found.size} ${found.mtimeMs}`;
    if (this.#checked?.version !== version) this.#checked = { version, sum: this.#read() };
    try {
      return await this.#checked.sum;
    } catch (error) {
      this.#checked = undefined;
      throw error;
    }
  }

  async #read(): Promise<string> {
    const sum = createHash('sha256');
    await pipeline(createReadStream(this.#file), sum);
    return sum.digest('hex');
  }
}
