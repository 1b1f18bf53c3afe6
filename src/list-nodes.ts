import * as z from 'zod';
import { sign } from './legacy/signature.ts';
import { readSettings, type SettingsInput } from './settings/load.ts';
import { SettingsError } from './settings/settings-error.ts';

/** How long the server may take to respond, in ms. */
const RESPONSE_MS = 10_000;

/** What the command can't do: one line for the operator. */
export class NodesError extends Error {
  override readonly name = 'NodesError';
}

const node = z.object({
  name: z.string(),
  address: z.nullable(z.string()),
  version: z.string(),
  startedAt: z.string(),
  alive: z.boolean(),
  agents: z.number(),
  connections: z.number(),
  load: z.number(),
  lagSeconds: z.number(),
});
type NodeRow = z.output<typeof node>;

const response = z.object({ data: z.nullish(z.object({ nodes: z.nullable(z.array(node)) })), errors: z.optional(z.array(z.object({ message: z.string() }))) });
const query = `{ nodes { ${Object.keys(node.shape).join(' ')} } }`;

/**
 * Asks the server that has these settings for the nodes, with its own key.
 * @param json one object per line instead of a table
 * @throws {SettingsError} if the settings are invalid
 * @throws {NodesError} if the server does not respond
 */
export async function nodesText(input: SettingsInput, json: boolean): Promise<string> {
  const { settings: { httpHost, httpPort, basePath, authKey } } = readSettings(input);
  if (authKey === '') throw new SettingsError(['auth_key: "adit nodes" signs its request with this key, which is empty or not generated yet']);
  if (httpPort === 0) throw new SettingsError(['http_port: give the port on which the server listens']);
  const any = httpHost === '0.0.0.0' ? '127.0.0.1' : httpHost === '::' ? '::1' : httpHost;
  const rows = await nodesOf(`http://${any.includes(':') ? `[${any}]` : any}:${httpPort}${basePath}/graphql`, authKey);
  return json ? rows.map((row) => `${JSON.stringify(row)}\n`).join('') : table(rows);
}

async function nodesOf(url: string, authKey: string): Promise<readonly NodeRow[]> {
  const timestamp = Math.floor(Date.now() / 1000);
  let parsed;
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-adit-auth-key': sign(authKey, timestamp), 'x-adit-timestamp': String(timestamp) },
      body: JSON.stringify({ query }),
      signal: AbortSignal.timeout(RESPONSE_MS),
    });
    parsed = response.safeParse(await answer.json());
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new NodesError(`no response from the server at ${url}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause: error });
  }
  const rows = parsed.data?.data?.nodes;
  if (!rows) throw new NodesError(`the server at ${url} refused the request: ${parsed.data?.errors?.[0]?.message ?? 'its response has an unknown form'}`);
  return rows;
}

function table(rows: readonly NodeRow[]): string {
  const cells = rows.map((row) => [
    row.name,
    row.address ?? '-',
    row.version,
    row.startedAt,
    row.alive ? 'yes' : 'no',
    String(row.agents),
    String(row.connections),
    `${Math.round(row.load * 100)} %`,
    `${row.lagSeconds} s`,
  ]);
  const lines = [['NAME', 'ADDRESS', 'VERSION', 'STARTED', 'ALIVE', 'AGENTS', 'CONNECTIONS', 'LOAD', 'LAG'], ...cells];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  return lines.map((line) => `${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()}\n`).join('');
}
