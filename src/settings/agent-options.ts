import path from 'node:path';
import * as z from 'zod';
import { parseFingerprint } from '../rules/fingerprint.ts';
import type { HostPort } from '../rules/host-port.ts';
import { MAX_SERVERS, parseServerList } from '../rules/server-list.ts';
import { flagCheck } from './flag-check.ts';
import { readKeyOption } from './key-option.ts';
import type { Settings } from './settings.ts';
import { SettingsError } from './settings-error.ts';
import { sharedValues } from './shared-values.ts';

/** The settings of an agent's session. The configuration file provides those that are undefined. */
interface SessionOptions {
  /** The bridges to connect to. */
  readonly servers: readonly HostPort[] | undefined;
  /** `servers` are the TLS ports of the bridges. `fingerprint`: 64 hex digits; "" = any certificate. */
  readonly tls: { readonly fingerprint: string } | undefined;
  /** The client's verification key. */
  readonly vkey: string | undefined;
  /** Directories whose files tunnels may serve, as absolute paths. */
  readonly allowFiles: readonly string[];
}

/** The options of `adit agent`. */
export interface AgentOptions extends Pick<Settings, 'logLevel' | 'logFormat' | 'sockets'> {
  readonly session: SessionOptions;
  /** The absolute path of the configuration file. Without one, the session's servers and vkey are set. */
  readonly config: string | undefined;
  /** Prints changes of state, and results, as JSON. */
  readonly json: boolean;
}

/** Flags of `adit agent`, with the names that commander uses. */
export interface AgentFlags {
  readonly server?: string;
  readonly vkey?: string;
  readonly vkeyFile?: string;
  readonly tls?: true;
  readonly tlsFingerprint?: string;
  readonly allowFiles?: readonly string[];
  readonly config?: string;
  readonly check?: true;
  readonly status?: true;
  readonly json?: true;
  readonly logLevel?: string;
  readonly logFormat?: string;
  readonly sockets?: string;
}

/** HOST:PORT of a bridge, or of several. */
export const bridgeAddresses = z.string().transform((text, context) => {
  const servers = parseServerList(text);
  if (servers !== undefined) return servers;
  context.addIssue({
    code: 'custom',
    message: `must be HOST:PORT, such as tunnel.example.com:8024, or up to ${MAX_SERVERS} of them, separated by commas, not ${JSON.stringify(text)}`,
  });
  return z.NEVER;
});

/** The SHA-256 fingerprint of a certificate: 64 hex digits, with or without colons. */
export const fingerprint = z.string().transform((text, context) => {
  const digits = parseFingerprint(text);
  if (digits !== undefined) return digits;
  context.addIssue({ code: 'custom', message: `must be a SHA-256 fingerprint, 64 hex digits with or without colons, not ${JSON.stringify(text)}` });
  return z.NEVER;
});

/**
 * The options of an agent, from flags and environment.
 * @throws {SettingsError} with all problems
 */
export function readAgentOptions(flags: AgentFlags, environment: NodeJS.ProcessEnv): AgentOptions {
  const problems: string[] = [];
  const check = flagCheck(problems);
  const config = flags.config === undefined ? undefined : path.resolve(flags.config);
  if (flags.server === undefined && config === undefined) {
    problems.push('--server: give the bridge of the server, such as tunnel.example.com:8024, or --config FILE');
  }
  const servers = flags.server === undefined ? undefined : check('--server', bridgeAddresses, flags.server);
  const pinned = flags.tlsFingerprint === undefined ? '' : check('--tls-fingerprint', fingerprint, flags.tlsFingerprint);
  const keys = [flags.vkey, flags.vkeyFile, environment['ADIT_VKEY'], environment['ADIT_VKEY_FILE']];
  const vkey = config !== undefined && keys.every((given) => given === undefined)
    ? undefined
    : readKeyOption({ what: 'key', flag: '--vkey', variable: 'ADIT_VKEY', value: flags.vkey, file: flags.vkeyFile }, environment, problems);
  const logLevel = check('--log-level', sharedValues.logLevel, flags.logLevel ?? environment['ADIT_LOG_LEVEL']);
  const logFormat = check('--log-format', sharedValues.logFormat, flags.logFormat ?? environment['ADIT_LOG_FORMAT']);
  const sockets = check('--sockets', sharedValues.sockets, flags.sockets ?? environment['ADIT_SOCKETS']);
  if (problems.length > 0 || pinned === undefined || logLevel === undefined || logFormat === undefined || sockets === undefined) {
    throw new SettingsError(problems);
  }
  const tls = flags.tls || pinned !== '' ? { fingerprint: pinned } : undefined;
  const allowFiles = (flags.allowFiles ?? []).map((directory) => path.resolve(directory));
  return { session: { servers, tls, vkey, allowFiles }, config, json: flags.json === true, logLevel, logFormat, sockets };
}
