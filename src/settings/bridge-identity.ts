import path from 'node:path';
import type { Settings } from './settings.ts';
import { SettingsError } from './settings-error.ts';
import { identityFromFiles, keptIdentity, type TlsIdentity } from './tls-identity.ts';

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
): Promise<TlsIdentity> {
  const { dataDir, bridgeTlsCert, bridgeTlsKey } = settings;
  if ((bridgeTlsCert === '') !== (bridgeTlsKey === '')) throw new SettingsError(['bridge_tls_cert, bridge_tls_key: must be given both or not at all']);
  if (bridgeTlsCert !== '') return identityFromFiles(bridgeTlsCert, bridgeTlsKey, 'bridge_tls_cert, bridge_tls_key');
  return keptIdentity(bridgeIdentityFile(dataDir), generate);
}
