import { execFile } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { writePrivately } from './private-file.ts';
import type { Settings } from './settings.ts';
import { isMissing, SettingsError } from './sources.ts';

const run = promisify(execFile);

/** The certificate and key of the bridge, as PEM texts. */
export interface BridgeIdentity {
  readonly certificate: string;
  readonly key: string;
}

/** The name of the file of the generated certificate and its key. */
export const BRIDGE_FILE = 'bridge-tls.pem';

/** The file of the generated certificate and its key. */
export function bridgeIdentityFile(dataDir: string): string {
  return path.join(dataDir, BRIDGE_FILE);
}

/**
 * The certificate of the bridge and its key: provided by the operator, or generated in the data directory at the first start.
 * @param generate the command that prints a new certificate and its key ({@link generateCertificate})
 * @throws {SettingsError} if they can't be read, generated, written or used
 */
export async function bridgeIdentity(
  settings: Pick<Settings, 'dataDir' | 'bridgeTlsCert' | 'bridgeTlsKey'>,
  generate: readonly string[],
): Promise<BridgeIdentity> {
  const { dataDir, bridgeTlsCert, bridgeTlsKey } = settings;
  if ((bridgeTlsCert === '') !== (bridgeTlsKey === '')) throw new SettingsError(['bridge_tls_cert, bridge_tls_key: must be given both or not at all']);
  if (bridgeTlsCert !== '') return checked({ certificate: read(bridgeTlsCert), key: read(bridgeTlsKey) }, `bridge_tls_cert, bridge_tls_key`);
  const file = bridgeIdentityFile(dataDir);
  const pem = kept(file) ?? await generated(file, generate);
  return checked({ certificate: pem, key: pem }, file);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unusable(file, error);
  }
}

function kept(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw unusable(file, error);
  }
}

async function generated(file: string, [program = '', ...args]: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run(program, args);
    writePrivately(file, stdout);
    return stdout;
  } catch (error) {
    throw unusable(file, error);
  }
}

function checked(identity: BridgeIdentity, name: string): BridgeIdentity {
  let fits: boolean;
  try {
    fits = new X509Certificate(identity.certificate).checkPrivateKey(createPrivateKey(identity.key));
  } catch (error) {
    throw unusable(name, error); // OpenSSL's messages don't quote the files
  }
  if (!fits) throw new SettingsError([`${name}: the key is not that of the certificate`]);
  return identity;
}

function unusable(name: string, error: unknown): SettingsError {
  return new SettingsError([`${name}: ${error instanceof Error ? error.message : String(error)}`]);
}
