import * as z from 'zod';
import { canonicalBindAddress } from '../../rules/bind-address.ts';
import { accountFault, MAX_ACCOUNTS } from '../../rules/proxy-accounts.ts';
import { parseTarget } from '../../rules/targets.ts';
import type { DeclaredTunnel } from '../../wire/declaration.ts';
import { healthTable } from './health.ts';

/** A text of one line (contract D32). */
export const line = z.string('must be a text').max(255, 'must be at most 255 characters').regex(/^\P{Cc}*$/u, 'must not hold control characters');

/** The targets of connections, used in round-robin order. */
export const targets = z.array(
  z.string('must be a text').refine((text) => parseTarget(text) !== undefined, 'must be host:port, [IPv6]:port or a port'),
  'must be a list: ["127.0.0.1:22"]',
)
  .min(1, 'must name at least one target').max(1000, 'must name at most 1000 targets');

/** The path of a local file or directory; a relative path starts at the configuration file's directory. */
export const localPath = z.string('must be a text').min(1, 'must not be empty').max(4096, 'must be at most 4096 characters').regex(
  /^[^\0]*$/,
  'must not hold NUL',
);

const password = z.string('must be a text').min(1, 'must not be empty').max(255, 'must be at most 255 characters').regex(/^[^\0]*$/, 'must not hold NUL');
const remark = line.default('');
const listening = {
  port: z.int('must be a port').min(0, 'must be a port').max(65535, 'must be a port').default(0),
  server_ip: z.string('must be a text').refine((text) => canonicalBindAddress(text) !== undefined, 'must be an IP address').default(''),
};

const common = { remark };
/** The accounts of a proxy's visitors: user name = "password". */
const accounts = z.record(z.string(), z.string('must be a text'), 'must be a table: { user = "password" }').superRefine((table, context) => {
  if (Object.keys(table).length > MAX_ACCOUNTS) context.addIssue({ code: 'custom', message: `must be at most ${MAX_ACCOUNTS}` });
  for (const [user, password] of Object.entries(table)) {
    const fault = accountFault({ user, password });
    if (fault !== '') context.addIssue({ code: 'custom', path: [user], message: `cannot be used: ${fault}` });
  }
}).optional();
/** Health checks use TCP, so a UDP target cannot be checked. */
const checked = { health: healthTable.optional() };

/** A table of `[tunnels.NAME]`, with a schema for each type: keys of other types are unknown. */
export const tunnelTable = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('tcp'),
    ...listening,
    targets,
    proxy_protocol: z.enum(['V1', 'V2'], 'must be "V1" or "V2"').optional(),
    ...checked,
    ...common,
  }),
  z.strictObject({ type: z.literal('udp'), ...listening, targets, ...common }),
  z.strictObject({ type: z.literal('httpProxy'), ...listening, accounts, ...common }),
  z.strictObject({ type: z.literal('socks5'), ...listening, accounts, ...common }),
  z.strictObject({ type: z.literal('file'), ...listening, local_path: localPath, strip_prefix: line.default(''), ...common }),
  z.strictObject({ type: z.literal('secret'), targets, password, ...checked, ...common }),
  z.strictObject({ type: z.literal('p2p'), targets, password, ...checked, ...common }),
], { error: ({ code }) => code === 'invalid_union' ? 'must be "tcp", "udp", "httpProxy", "socks5", "file", "secret" or "p2p"' : 'must be a table' });

/** The types of tunnels that have this key. */
export function typesWith(key: string): string[] {
  return tunnelTable.options.filter(({ shape }) => key in shape).map(({ shape }) => shape.type.value);
}

/** @see tunnelTable */
export type TunnelTable = z.output<typeof tunnelTable>;

/** The tunnel as it is declared to the server. */
export function tunnelOf(table: TunnelTable): DeclaredTunnel {
  return {
    mode: table.type,
    port: 'port' in table ? table.port : 0,
    serverIp: 'server_ip' in table ? table.server_ip : '',
    targets: 'targets' in table ? table.targets : [],
    password: 'password' in table ? table.password : '',
    localPath: 'local_path' in table ? table.local_path : '',
    stripPrefix: 'strip_prefix' in table ? table.strip_prefix : '',
    accounts: 'accounts' in table ? Object.entries(table.accounts ?? {}).map(([user, password]) => ({ user, password })) : [],
    proxyProtocol: 'proxy_protocol' in table ? table.proxy_protocol ?? '' : '',
    remark: table.remark,
  };
}
