import process from 'node:process';
import type { Logger } from 'pino';
import type { BridgeAddress } from './engine/bridge/bridge.ts';
import type { Engine } from './engine/engine.ts';
import type { CertificateFiles } from './http/certificate-files.ts';
import { GENERATE_CERTIFICATE, ownCommand } from './own-program.ts';
import { bridgeIdentity } from './settings/bridge-identity.ts';
import type { Settings } from './settings/settings.ts';

/** The parts that SIGHUP reloads. */
interface Reloaded {
  readonly engine: Engine;
  /** The certificate of the API; undefined = it has none that can change. */
  readonly certificate: CertificateFiles | undefined;
  readonly settings: Pick<Settings, 'dataDir' | 'bridgeTlsCert' | 'bridgeTlsKey'>;
  readonly log: Logger;
  /** Called when the bridge has a new certificate. */
  readonly onBridge: (bridge: BridgeAddress) => void;
}

/**
 * Makes SIGHUP reload certificate files: those of the hosts, and the bridge's own. An unusable file leaves the previous certificate
 * in use. Settings are not reloaded. @returns a function that removes the handler
 */
export function reloadOnHangup({ engine, certificate, settings, log, onBridge }: Reloaded): () => void {
  const reloadBridge = async (): Promise<void> => {
    try {
      onBridge(engine.renewBridge(await bridgeIdentity(settings, ownCommand(GENERATE_CERTIFICATE))));
    } catch (error) {
      log.error({ err: error }, 'the certificate of the bridge cannot be used: the previous one stays in use');
    }
  };
  let last: Promise<void> = Promise.resolve();
  const onSignal = (): void => {
    last = last.then(async () => {
      log.info('SIGHUP: reloading the certificates');
      await Promise.all([reloadBridge(), certificate?.look(), engine.reloadCertificates()]);
      log.info('the certificates are reloaded');
    }).catch((error: unknown) => log.error({ err: error }, 'the certificates could not be reloaded'));
  };
  process.on('SIGHUP', onSignal);
  return () => process.off('SIGHUP', onSignal);
}
