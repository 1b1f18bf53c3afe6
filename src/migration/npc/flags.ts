import type { AgentFlags } from '../../settings/agent-options.ts';
import { SettingsError } from '../../settings/settings-error.ts';
import type { VisitFlags } from '../../settings/visit-options.ts';
import { bracketed } from '../../rules/host-port.ts';

/** What a call of npc means here. */
export type NpcCall =
  & { readonly notices: readonly string[] }
  & (
    | { readonly run: 'agent'; readonly flags: AgentFlags }
    | { readonly run: 'visit'; readonly flags: VisitFlags }
    /** With an npc.conf, which has to be converted. */
    | { readonly run: 'config'; readonly file: string }
  );

/** Flags that change nothing here. */
const ignored: ReadonlyMap<string, string> = new Map(Object.entries({
  debug: 'use ADIT_LOG_LEVEL',
  log: 'the log goes to stderr',
  log_level: 'use ADIT_LOG_LEVEL',
  log_path: 'the log goes to stderr',
  log_color: 'the log has no colors',
  pprof: 'there is no profiler',
  auto_reconnection: 'the agent always reconnects',
  disconnect_timeout: 'a lost connection is noticed after 12 seconds',
  stun_addr: 'the server tells agents their addresses',
  skip_verify: 'give the fingerprint of the certificate to check it: adit agent --tls-fingerprint',
}));
const known: ReadonlySet<string> = new Set([
  'server',
  'vkey',
  'type',
  'config',
  'local_type',
  'password',
  'local_port',
  'local_ip',
  'tls_enable',
  'tls_fingerprint',
]);

/**
 * Translates the flags of npc (`-name=value`, `-name value`, also with two dashes).
 * @throws {SettingsError} that names every flag that has no meaning here
 */
export function readNpcFlags(words: readonly string[]): NpcCall {
  const problems: string[] = [];
  const notices: string[] = [];
  const values = valuesOf(words, problems);
  for (const [name] of values) {
    const why = ignored.get(name);
    if (why !== undefined) notices.push(`-${name} is ignored: ${why}`);
    else if (!known.has(name)) problems.push(`-${name}: has no meaning here`);
  }
  const text = (name: string): string => values.get(name) ?? '';
  const type = text('type').toLowerCase();
  if (type !== '' && type !== 'tcp' && type !== 'tls') problems.push(`-type: ${JSON.stringify(text('type'))} has no meaning here: use tcp or tls`);
  if (text('vkey').includes(',')) problems.push('-vkey: one agent has one key: start an agent for each');
  const tls = type === 'tls' || isTrue(values.get('tls_enable')) || text('tls_fingerprint') !== '';
  const session = {
    ...(values.has('server') && { server: text('server') }),
    ...(tls && { tls: true as const }),
    ...(text('tls_fingerprint') !== '' && { tlsFingerprint: text('tls_fingerprint') }),
  };
  const visiting = values.has('password') || values.has('local_type');
  const localType = text('local_type') || 'p2p';
  const visitType = /^p2p[st]?$/.test(localType) ? 'p2p' : localType;
  if (visiting && visitType !== 'p2p' && visitType !== 'secret') {
    problems.push(`-local_type: ${JSON.stringify(localType)} has no meaning here: use p2p or secret`);
  }
  if (visiting && values.has('config')) problems.push('-config: not together with -local_type: put the visitor into the file');
  if (problems.length > 0) throw new SettingsError(problems);
  if (visiting) {
    const host = text('local_ip');
    const listen = `${host === '' ? '' : `${bracketed(host)}:`}${text('local_port') || '2000'}`;
    if (values.has('vkey')) notices.push('-vkey is ignored: the password of the tunnel is enough for a visitor');
    return { run: 'visit', notices, flags: { ...session, type: visitType, password: text('password'), listen } };
  }
  for (const name of ['local_port', 'local_ip'].filter((flag) => values.has(flag))) {
    notices.push(`-${name} is ignored: only a visitor, with -password, opens a port`);
  }
  if (values.has('config') || !values.has('vkey')) {
    // A pin that is passed over would let any certificate through.
    if (text('tls_fingerprint') !== '') throw new SettingsError(['-tls_fingerprint: not together with -config: put it into the file']);
    for (const name of ['server', 'vkey', 'type', 'tls_enable'].filter((flag) => values.has(flag))) notices.push(`-${name} is ignored: the file has it`);
    return { run: 'config', notices, file: text('config') || 'conf/npc.conf' };
  }
  return { run: 'agent', notices, flags: { ...session, vkey: text('vkey') } };
}

function valuesOf(words: readonly string[], problems: string[]): Map<string, string> {
  const values = new Map<string, string>();
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    const [, name, , value] = /^--?([A-Za-z][\w-]*)(=([\s\S]*))?$/.exec(word) ?? [];
    if (name === undefined) {
      problems.push(`${word}: is no flag; of npc's commands, only connecting has an equivalent`);
      continue;
    }
    const next = words[index + 1];
    if (value !== undefined) values.set(name, value);
    else if (next !== undefined && !next.startsWith('-')) {
      values.set(name, next);
      index++;
    } else values.set(name, 'true');
  }
  return values;
}

function isTrue(value: string | undefined): boolean {
  return value !== undefined && ['true', '1', 't'].includes(value.toLowerCase());
}
