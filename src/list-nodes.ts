import * as z from 'zod';
import { askOwnServer } from './own-server.ts';
import type { SettingsInput } from './settings/load.ts';

const node = z.object({
  name: z.string(),
  address: z.nullable(z.string()),
  version: z.string(),
  startedAt: z.string(),
  lastReportAt: z.string(),
  stopped: z.boolean(),
  alive: z.boolean(),
  draining: z.boolean(),
  agents: z.number(),
  connections: z.number(),
  load: z.number(),
  lagSeconds: z.number(),
  differentSettings: z.array(z.string()),
  unreachableFrom: z.array(z.object({ node: z.string(), since: z.string(), problem: z.string() })),
});
type NodeRow = z.output<typeof node>;

const query = `{ nodes { ${Object.keys(node.shape).join(' ')} { node since problem } } }`;

/**
 * Asks the server that has these settings for the nodes.
 * @param json one object per line instead of a table
 * @throws {SettingsError} if the settings are invalid
 * @throws {NodesError} if the server does not respond
 */
export async function nodesText(input: SettingsInput, json: boolean): Promise<string> {
  const { nodes } = await askOwnServer(input, { query, result: z.object({ nodes: z.array(node) }) });
  return json ? nodes.map((row) => `${JSON.stringify(row)}\n`).join('') : table(nodes);
}

function table(rows: readonly NodeRow[]): string {
  const cells = rows.map((row) => [
    row.name,
    row.address ?? '-',
    row.version,
    row.startedAt,
    row.alive ? 'yes' : 'no',
    // What it reported last is no longer true.
    ...row.alive
      ? [row.draining ? 'yes' : 'no', String(row.agents), String(row.connections), `${Math.round(row.load * 100)} %`, `${row.lagSeconds} s`]
      : Array.from({ length: 5 }, () => '-'),
  ]);
  const lines = [['NAME', 'ADDRESS', 'VERSION', 'STARTED', 'ALIVE', 'DRAINING', 'AGENTS', 'CONNECTIONS', 'LOAD', 'LAG'], ...cells];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const different = rows.flatMap(({ name, differentSettings }) =>
    differentSettings.length > 0 ? [`${name} has other settings: ${differentSettings.join(', ')}\n`] : []
  );
  const silent = rows.flatMap(({ name, alive, stopped, lastReportAt }) =>
    alive || stopped ? [] : [`${name} has not reported to the database since ${lastReportAt}, and was not stopped\n`]
  );
  const unreachable = rows.flatMap(({ name, unreachableFrom }) => {
    const [first] = unreachableFrom.toSorted((one, other) => one.since < other.since ? -1 : 1);
    return first ? [`${name} cannot be reached from ${unreachableFrom.map((from) => from.node).join(', ')} since ${first.since}: ${first.problem}\n`] : [];
  });
  return [
    ...lines.map((line) => `${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()}\n`),
    ...different,
    ...silent,
    ...unreachable,
  ].join(
    '',
  );
}
