import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { sign } from '../legacy/signature.ts';
import type { ImportSet } from '../schema/import/records.ts';
import { importReport, type ImportReport } from '../schema/import/report.ts';
import type { ImportFindings, ImportOptions } from '../schema/import/run.ts';
import { post } from './post.ts';
import type { Settings } from '../settings/settings.ts';

/** Maximum size of a part in characters: the server accepts bodies of 256 KB, and escaping may double a text. */
const partLength = 96 * 1024;

/** The server is running, but can't import. The message is for the operator. */
export class ThroughServerError extends Error {
  override readonly name = 'ThroughServerError';
}

const response = z.object({
  data: z.object({ stageImport: z.int().optional(), runImport: importReport.optional() }).nullish(),
  errors: z.array(z.object({ message: z.string() })).optional(),
});

/** Imports records through the running server, as its administrator. @throws {ThroughServerError} */
export async function importThroughServer(set: ImportSet, findings: ImportFindings, options: ImportOptions, settings: Settings): Promise<ImportReport> {
  const id = randomUUID();
  for (const part of partsOf(set)) {
    await call(settings, 'mutation ($id: ID!, $part: String!) { stageImport(id: $id, part: $part) }', { id, part });
  }
  // Problems of the folder refuse the whole import, but the server still finds its own.
  const refused = findings.problems.length > 0 && !options.skipBroken;
  const { runImport: report } = await call(
    settings,
    `mutation ($id: ID!, $dryRun: Boolean, $merge: Boolean, $update: Boolean, $skipBroken: Boolean) {
      runImport(id: $id, dryRun: $dryRun, merge: $merge, update: $update, skipBroken: $skipBroken)
    }`,
    { id, ...options, dryRun: options.dryRun || refused },
  );
  if (report === undefined) throw new ThroughServerError('the running server has not answered the import');
  return {
    ...report,
    problems: [...findings.problems, ...report.problems],
    leftOut: [...findings.leftOut, ...report.leftOut],
    notes: [...findings.notes, ...report.notes],
    outcome: refused ? 'refused' : report.outcome,
  };
}

function* partsOf(set: ImportSet): Generator<string> {
  let part: string[] = [];
  let length = 0;
  for (const record of set.all()) {
    const text = JSON.stringify(record);
    if (length + text.length > partLength && part.length > 0) {
      yield `[${part.join(',')}]`;
      [part, length] = [[], 0];
    }
    part.push(text);
    length += text.length;
  }
  yield `[${part.join(',')}]`;
}

async function call({ httpHost, httpPort, basePath, authKey }: Settings, query: string, variables: object) {
  const url = `http://${hostOf(httpHost)}:${httpPort}${basePath}/graphql`;
  const timestamp = Math.floor(Date.now() / 1000);
  let answer: z.output<typeof response>;
  try {
    const { body } = await post(
      url,
      { 'x-adit-auth-key': sign(authKey, timestamp), 'x-adit-timestamp': String(timestamp) },
      JSON.stringify({ query, variables }),
    );
    answer = response.parse(JSON.parse(body));
  } catch (error) {
    const reason = error instanceof z.ZodError || error instanceof SyntaxError
      ? 'its response is not that of Adit'
      : error instanceof Error
      ? error.message
      : String(error);
    throw new ThroughServerError(
      `a server is running on this database, but not reachable at ${url}: ${reason}. Check the settings http_host and http_port, or stop the server`,
      {
        cause: error,
      },
    );
  }
  if (answer.errors !== undefined || !answer.data) {
    throw new ThroughServerError(`the running server has refused the import: ${answer.errors?.map(({ message }) => message).join('; ') ?? 'no data'}`);
  }
  return answer.data;
}

/** An address that connects to a listener: one on all addresses is reached on the loopback. */
function hostOf(httpHost: string): string {
  if (httpHost === '0.0.0.0') return '127.0.0.1';
  if (httpHost === '::') return '[::1]';
  return httpHost.includes(':') ? `[${httpHost}]` : httpHost;
}
