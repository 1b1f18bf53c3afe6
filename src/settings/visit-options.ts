import * as z from 'zod';
import { type HostPort, parseHostPort } from '../rules/host-port.ts';
import { flagCheck } from './flag-check.ts';
import { bridgeAddresses, fingerprint } from './agent-options.ts';
import { readKeyOption } from './key-option.ts';
import type { Settings } from './settings.ts';
import { SettingsError } from './settings-error.ts';
import { sharedValues } from './shared-values.ts';

/** The options of `adit visit`. */
export interface VisitOptions extends Pick<Settings, 'logLevel' | 'logFormat' | 'sockets' | 'halfClosedSeconds'> {
  /** The bridges to connect to. */
  readonly servers: readonly HostPort[];
  /** `servers` are the TLS ports of the bridges. `fingerprint`: 64 hex digits; "" = any certificate. */
  readonly tls: { readonly fingerprint: string } | undefined;
  readonly type: 'secret' | 'p2p';
  /** The tunnel's password. */
  readonly password: string;
  /** The local port to open; 0 = any free one. */
  readonly listen: { readonly host: string; readonly port: number };
}

/** Flags of `adit visit`, with the names that commander uses. */
export interface VisitFlags {
  readonly server?: string;
  readonly type?: string;
  readonly password?: string;
  readonly passwordFile?: string;
  readonly listen?: string;
  readonly tls?: true;
  readonly tlsFingerprint?: string;
  readonly logLevel?: string;
  readonly logFormat?: string;
  readonly sockets?: string;
  readonly halfClosedSeconds?: string;
}

const listenAddress = z.string().transform((text, context) => {
  const address = parseHostPort(text, '127.0.0.1');
  if (address !== undefined) return address;
  context.addIssue({ code: 'custom', message: `must be PORT or HOST:PORT, such as 2222, not ${JSON.stringify(text)}` });
  return z.NEVER;
});

/**
 * The options of a visitor, from flags and environment.
 * @throws {SettingsError} with all problems
 */
export function readVisitOptions(flags: VisitFlags, environment: NodeJS.ProcessEnv): VisitOptions {
  const problems: string[] = [];
  const check = flagCheck(problems);
  const servers = check('--server', bridgeAddresses, flags.server);
  const pinned = flags.tlsFingerprint === undefined ? '' : check('--tls-fingerprint', fingerprint, flags.tlsFingerprint);
  const type = check('--type', z.enum(['secret', 'p2p'], { error: 'must be secret or p2p' }), flags.type);
  const password = readKeyOption(
    {
      what: 'password',
      flag: '--password',
      variable: 'ADIT_VISIT_PASSWORD',
      value: flags.password,
      file: flags.passwordFile,
    },
    environment,
    problems,
  );
  const listen = check('--listen', listenAddress, flags.listen);
  const logLevel = check('--log-level', sharedValues.logLevel, flags.logLevel ?? environment['ADIT_LOG_LEVEL']);
  const logFormat = check('--log-format', sharedValues.logFormat, flags.logFormat ?? environment['ADIT_LOG_FORMAT']);
  const sockets = check('--sockets', sharedValues.sockets, flags.sockets ?? environment['ADIT_SOCKETS']);
  const halfClosedSeconds = check(
    '--half-closed-seconds',
    sharedValues.halfClosedSeconds,
    flags.halfClosedSeconds ?? environment['ADIT_HALF_CLOSED_SECONDS'],
  );
  if (
    !servers || pinned === undefined || !type || password === undefined || !listen || logLevel === undefined || logFormat === undefined || sockets === undefined
    || halfClosedSeconds === undefined
  ) throw new SettingsError(problems);
  const tls = flags.tls || pinned !== '' ? { fingerprint: pinned } : undefined;
  return { servers, tls, type, password, listen, logLevel, logFormat, sockets, halfClosedSeconds };
}
