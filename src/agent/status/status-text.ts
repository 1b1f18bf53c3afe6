import type { Snapshot } from './snapshot-schema.ts';

/** An agent's state as text. */
export function statusText({ pid, version, config, problems, session, entries, visitors }: Snapshot): string {
  const lines = [`agent ${pid}, version ${version}${config === '' ? '' : `, configuration ${config}`}`];
  if (session) lines.push(`  ${session.text}, since ${new Date(session.since).toISOString()}`);
  if (problems.length > 0) {
    lines.push(
      '  the configuration file has problems; the agent runs the previous version:',
      ...problems.map((problem) => `    ${problem}`),
    );
  }
  if (entries === null) lines.push('  tunnels and hosts: the server cannot be asked');
  else if (entries.length > 0) {
    lines.push(
      '',
      ...table(
        ['KIND', 'NAME', 'ID', 'TYPE', 'AT', 'TARGETS', 'STATE', 'CONNECTIONS'],
        entries.map((entry) => [
          entry.kind,
          entry.name || '-',
          entry.id === 0 ? '-' : String(entry.id),
          entry.type,
          entry.host || (entry.port === 0 ? '-' : String(entry.port)),
          entry.targets.join(', ') || '-',
          `${entry.running ? 'running' : 'stopped'}${entry.error === '' ? '' : `: ${entry.error}`}${
            entry.health ? `, ${entry.health.healthy} of ${entry.health.targets} targets healthy` : ''
          }`,
          `${entry.connections}${visitedBy(entry.visitors)}`,
        ]),
      ),
    );
  }
  if (visitors.length > 0) {
    lines.push(
      '',
      ...table(
        ['VISITOR', 'TYPE', 'LISTENS', 'STATE', 'PATH'],
        visitors.map(({ name, type, listen, error, text, path }) => [
          name,
          type,
          listen || '-',
          error || text,
          path ?? '-',
        ]),
      ),
    );
  }
  return `${lines.map((line) => line.replace(/\p{Cc}/gu, '?')).join('\n')}\n`;
}

function visitedBy({ relay, direct }: { readonly relay: number; readonly direct: number }): string {
  return relay + direct === 0 ? '' : ` (visitors: ${relay} through the server, ${direct} direct)`;
}

function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string[] {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [head, ...rows].map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()}`);
}
