import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { sign } from '../legacy/signature.ts';
import type { ImportSet } from '../schema/import/records.ts';
import { importReport, type ImportReport } from '../schema/import/report.ts';
import type { ImportFindings, ImportOptions } from '../schema/import/run.ts';
import type { Settings } from '../settings/settings.ts';
import { graphqlUrl, post } from './post.ts';

/** Size of a part in characters: the server accepts bodies of 256 KB, and a character has up to three bytes. */
const partLength = 64 * 1024;

/** The server is running, but can't import. The message is for the operator. */
class ThroughServerError extends Error {
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

/** The records as lines of JSON, in parts of equal length: one record may be longer than a part. */
function* partsOf(set: ImportSet): Generator<string> {
  let text = '';
  for (const record of set.all()) {
    text += `${JSON.stringify(record)}\n`;
    let start = 0;
    for (; text.length - start >= partLength; start += partLength) yield text.slice(start, start + partLength);
    text = text.slice(start);
  }
  yield text;
}

async function call(settings: Settings, query: string, variables: object) {
  const url = graphqlUrl(settings);
  const timestamp = Math.floor(Date.now() / 1000);
  let answer: z.output<typeof response>;
  try {
    const { body } = await post(
      url,
      { 'x-adit-auth-key': sign(settings.authKey, timestamp), 'x-adit-timestamp': String(timestamp) },
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
