import { parse, TomlError } from 'smol-toml';
import * as z from 'zod';
import { parseFingerprint } from '../../rules/fingerprint.ts';
import { formatHostPort, parseHostPort } from '../../rules/host-port.ts';
import { MAX_SERVERS, parseServerList } from '../../rules/server-list.ts';
import { transportOf } from '../../rules/tunnel-mode.ts';
import { MAX_DECLARED, MAX_ENTRY_BYTES } from '../../wire/declared.ts';
import { type HostTable, hostTable } from './host-table.ts';
import { type ConfigProblem, KeyLines } from './problem.ts';
import { localPath, type TunnelTable, tunnelTable, typesWith } from './tunnel-table.ts';

/** Maximum characters of a file: enough for a thousand entries of usual length. */
const MAX_TEXT = 256 * 1024;
/** The most problems that are reported at once. */
const MAX_PROBLEMS = 20;
/** Visitors of one agent: each keeps a session of its own. */
const MAX_VISITORS = 100;

const server = z.string('must be a text').transform((text, context) => {
  const servers = parseServerList(text);
  if (servers !== undefined) return servers;
  context.addIssue({ code: 'custom', message: `must be HOST:PORT, such as tunnel.example.com:8024, or up to ${MAX_SERVERS} of them, separated by commas` });
  return z.NEVER;
});

const fingerprint = z.string('must be a text').transform((text, context) => {
  const digits = parseFingerprint(text);
  if (digits !== undefined) return digits;
  context.addIssue({ code: 'custom', message: 'must be a SHA-256 fingerprint, 64 hex digits with or without colons' });
  return z.NEVER;
});

const listen = z.union([z.int(), z.string()], 'must be PORT or "HOST:PORT"').transform((given, context) => {
  const address = parseHostPort(String(given), '127.0.0.1');
  if (address !== undefined) return address;
  context.addIssue({ code: 'custom', message: 'must be PORT or "HOST:PORT"' });
  return z.NEVER;
});

const key = z.string('must be a text').min(1, 'must not be empty').max(255, 'must be at most 255 characters');

const visitorTable = z.strictObject({
  type: z.enum(['secret', 'p2p'], 'must be "secret" or "p2p"'),
  password: key,
  listen,
}, { error: ({ code }) => code === 'invalid_type' ? 'must be a table' : undefined });
/** A table of `[visitors.NAME]`: what `adit visit` does. */
export type VisitorTable = z.output<typeof visitorTable>;

const names = z.string().regex(/^[\p{L}\p{N}_][\p{L}\p{N} ._-]{0,63}$/u, 'must be a name of 1 to 64 letters, digits, blanks, dots, - and _');

/** zod would silently ignore such a key. */
const withoutProto = z.custom(
  (value) => typeof value !== 'object' || value === null || !Object.hasOwn(value, '__proto__'),
  'must have no table of the name __proto__',
);

function tables<T extends z.ZodType>(schema: T, most: number) {
  return withoutProto.pipe(
    z.record(names, schema, 'must be tables: [tunnels.NAME], [hosts.NAME], [visitors.NAME]')
      .refine((all) => Object.keys(all).length <= most, `must be at most ${most}`),
  ).optional().transform((all) => all ?? {});
}

const configSchema = z.strictObject({
  server: server.optional(),
  vkey: key.optional(),
  vkey_file: localPath.optional(),
  tls: z.boolean('must be true or false').default(false),
  tls_fingerprint: fingerprint.optional(),
  allow_files: z.array(localPath, 'must be a list of directories').max(100, 'must be at most 100').default([]),
  tunnels: tables(tunnelTable, MAX_DECLARED),
  hosts: tables(hostTable, MAX_DECLARED),
  visitors: tables(visitorTable, MAX_VISITORS),
}).superRefine((config, context) => {
  const refuse = (path: readonly PropertyKey[], message: string): void => context.addIssue({ code: 'custom', path: [...path], message });
  if (config.vkey !== undefined && config.vkey_file !== undefined) refuse(['vkey_file'], 'must not be given together with vkey');
  for (const { path, message } of clashes(config)) refuse(path, message);
  for (const kind of ['tunnels', 'hosts'] as const) {
    for (const [name, table] of Object.entries(config[kind])) {
      if (Buffer.byteLength(JSON.stringify(table)) > MAX_ENTRY_BYTES / 2) refuse([kind, name], 'is too long: the server takes no such entry');
    }
  }
  if (Object.keys(config.tunnels).length + Object.keys(config.hosts).length > MAX_DECLARED) refuse([], `tunnels and hosts must be at most ${MAX_DECLARED}`);
});

/** An agent's configuration file, with its paths as written. Flags and environment take precedence over its session settings. */
export type AgentConfig = z.output<typeof configSchema>;

/** A configuration, or all its problems. */
export type ParsedConfig = { readonly config: AgentConfig } | { readonly problems: readonly ConfigProblem[] };

/** Parses the text of an agent's configuration file (docs/agent.md). Pure: accesses no files. Never throws. */
export function parseAgentConfig(text: string): ParsedConfig {
  if (text.length > MAX_TEXT) return { problems: [{ line: undefined, field: '', text: 'is too long to be a configuration file' }] };
  let tree: unknown;
  try {
    tree = parse(text);
  } catch (error) {
    // Further lines of the message quote the text, including secrets. Nesting that overflows the stack is reported as invalid, too.
    if (error instanceof TomlError) return { problems: [{ line: error.line, field: '', text: error.message.split('\n')[0] ?? '' }] };
    if (error instanceof RangeError) return { problems: [{ line: undefined, field: '', text: 'is nested too deeply' }] };
    throw error;
  }
  const checked = configSchema.safeParse(tree);
  if (checked.success) return { config: checked.data };
  const all = checked.error.issues.flatMap((issue) => faultsOf(tree, issue));
  const lines = new KeyLines(text);
  const problems = all.slice(0, MAX_PROBLEMS).map(({ path, message }) => ({ line: lines.of(path), field: path.map(String).join('.'), text: message }));
  return { problems: all.length > MAX_PROBLEMS ? [...problems, { line: undefined, field: '', text: `${all.length - MAX_PROBLEMS} more problems` }] : problems };
}

interface Fault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function faultsOf(tree: unknown, { path, message, ...issue }: z.core.$ZodIssue): Fault[] {
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((name) => ({ path: [...path, name], message: unknownKey(path, name) }));
    case 'invalid_key':
      return [{ path, message: issue.issues[0]?.message ?? message }];
    default:
      return [{ path, message: issue.code !== 'custom' && at(tree, path) === undefined ? 'is missing' : message }];
  }
}

/** A key may be known, but not for this type of tunnel: a UDP tunnel has no health checks, for example. */
function unknownKey([kind, , ...below]: readonly PropertyKey[], name: string): string {
  const types = kind === 'tunnels' && below.length === 0 ? typesWith(name) : [];
  return types.length === 0 ? 'unknown key' : `only for tunnels of type ${types.join(', ')}`;
}

function at(tree: unknown, path: readonly PropertyKey[]): unknown {
  let value = tree;
  for (const key of path) value = typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, key)?.value : undefined;
  return value;
}

/** Values that two entries share although they must be unique: detected here so that `--check` reports them. */
function clashes(
  { tunnels, hosts, visitors }: {
    readonly tunnels: Record<string, TunnelTable>;
    readonly hosts: Record<string, HostTable>;
    readonly visitors: Record<string, VisitorTable>;
  },
): Fault[] {
  const seen = new Map<string, string>();
  const found: Fault[] = [];
  const claim = (what: string, path: string[]): void => {
    const other = seen.get(what);
    if (other === undefined) seen.set(what, path.slice(0, 2).join('.'));
    else found.push({ path, message: `is that of ${other} too` });
  };
  for (const [name, table] of Object.entries(tunnels)) {
    if ('port' in table && table.port > 0) claim(`port ${transportOf(table.type)} ${table.port} ${table.server_ip}`, ['tunnels', name, 'port']);
    if ('password' in table) claim(`password ${table.password}`, ['tunnels', name, 'password']);
  }
  for (const [name, { host, location, scheme }] of Object.entries(hosts)) {
    if (host !== undefined) claim(`host ${host} ${location} ${scheme}`, ['hosts', name, 'host']);
  }
  for (const [name, table] of Object.entries(visitors)) {
    if (table.listen.port > 0) claim(`listen ${formatHostPort(table.listen)}`, ['visitors', name, 'listen']);
  }
  return found;
}
