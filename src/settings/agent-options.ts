import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseFingerprint } from '../rules/fingerprint.ts';
import { settingsSchema, type Settings } from './settings.ts';
import { SettingsError } from './sources.ts';

/** What an agent is started with. */
export interface AgentOptions extends Pick<Settings, 'logLevel' | 'logFormat'> {
  /** The bridge to connect to. */
  readonly server: { readonly host: string; readonly port: number };
  /** `server` is the bridge's TLS port. `fingerprint`: 64 hex digits; "" = whatever certificate it shows. */
  readonly tls: { readonly fingerprint: string } | undefined;
  /** The client's verification key. */
  readonly vkey: string;
}

/** Flags of `adit agent`, as commander names them. */
export interface AgentFlags {
  readonly server?: string;
  readonly vkey?: string;
  readonly vkeyFile?: string;
  readonly tls?: true;
  readonly tlsFingerprint?: string;
  readonly logLevel?: string;
  readonly logFormat?: string;
}

const address = z.string().transform((text, context) => {
  const match = /^(?:\[([\da-f:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/i.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port < 1 || port > 65535) {
    context.addIssue({ code: 'custom', message: `must be HOST:PORT, such as tunnel.example.com:8024, not ${JSON.stringify(text)}` });
    return z.NEVER;
  }
  return { host: match[1] ?? match[2] ?? '', port };
});

const fingerprint = z.string().transform((text, context) => {
  const digits = parseFingerprint(text);
  if (digits !== undefined) return digits;
  context.addIssue({ code: 'custom', message: `must be a SHA-256 fingerprint, 64 hex digits with or without colons, not ${JSON.stringify(text)}` });
  return z.NEVER;
});

/**
 * The options of an agent from its flags and its environment. The key may stand in a file or in ADIT_VKEY or
 * ADIT_VKEY_FILE, because everybody on the machine can read the flags of a running program.
 * @throws {SettingsError} with all problems
 */
export function readAgentOptions(flags: AgentFlags, environment: NodeJS.ProcessEnv): AgentOptions {
  const problems: string[] = [];
  const check = <T>(name: string, schema: z.ZodType<T>, value: unknown): T | undefined => {
    const checked = schema.safeParse(value);
    if (checked.success) return checked.data;
    problems.push(`${name}: ${checked.error.issues[0]?.message}`);
    return undefined;
  };
  const server = check('--server', address, flags.server);
  const pinned = flags.tlsFingerprint === undefined ? '' : check('--tls-fingerprint', fingerprint, flags.tlsFingerprint);
  const vkey = readVkey(flags, environment, problems);
  const logLevel = check('--log-level', settingsSchema.shape.logLevel, flags.logLevel ?? environment['ADIT_LOG_LEVEL']);
  const logFormat = check('--log-format', settingsSchema.shape.logFormat, flags.logFormat ?? environment['ADIT_LOG_FORMAT']);
  if (server === undefined || pinned === undefined || vkey === undefined || logLevel === undefined || logFormat === undefined) throw new SettingsError(problems);
  const tls = flags.tls || pinned !== '' ? { fingerprint: pinned } : undefined;
  return { server, tls, vkey, logLevel, logFormat };
}

/** Flags go before the environment; within one of them only one way of giving the key is allowed. */
function readVkey(flags: AgentFlags, environment: NodeJS.ProcessEnv, problems: string[]): string | undefined {
  const places = [
    { key: '--vkey', value: flags.vkey, keyFile: '--vkey-file', file: flags.vkeyFile },
    { key: 'ADIT_VKEY', value: environment['ADIT_VKEY'], keyFile: 'ADIT_VKEY_FILE', file: environment['ADIT_VKEY_FILE'] },
  ];
  const place = places.find(({ value, file }) => value !== undefined || file !== undefined);
  if (place === undefined) {
    problems.push('the key is missing: give --vkey KEY or --vkey-file FILE, or set ADIT_VKEY or ADIT_VKEY_FILE');
    return undefined;
  }
  if (place.value !== undefined && place.file !== undefined) {
    problems.push(`${place.keyFile}: must not be given together with ${place.key}`);
    return undefined;
  }
  try {
    const vkey = place.file === undefined ? place.value : readFileSync(place.file, 'utf8').trim();
    if (vkey !== undefined && vkey !== '') return vkey;
    problems.push(`${place.file === undefined ? place.key : place.keyFile}: the key must not be empty`);
  } catch (error) {
    problems.push(`${place.keyFile}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return undefined;
}
