import process from 'node:process';
import type { Logger } from 'pino';
import type { BridgeAddress } from './engine/bridge/bridge.ts';
import type { Engine } from './engine/engine.ts';
import { bridgeIdentity } from './settings/bridge-identity.ts';
import type { Settings } from './settings/settings.ts';

/** What SIGHUP acts on. */
interface Reloaded {
  readonly engine: Engine;
  readonly settings: Pick<Settings, 'dataDir' | 'bridgeTlsCert' | 'bridgeTlsKey'>;
  readonly log: Logger;
  /** The bridge shows another certificate now. */
  readonly onBridge: (bridge: BridgeAddress) => void;
}

/**
 * Has SIGHUP reload what the server reads from certificate files: those of the hosts, and the bridge's own. What can't be used leaves the one
 * before in use. Settings are not read again. @returns the way to stop
 */
export function reloadOnHangup({ engine, settings, log, onBridge }: Reloaded): () => void {
  const reloadBridge = async (): Promise<void> => {
    try {
      onBridge(engine.renewBridge(await bridgeIdentity(settings)));
    } catch (error) {
      log.error({ err: error }, 'the certificate of the bridge cannot be used: the one before stays');
    }
  };
  let last: Promise<void> = Promise.resolve();
  const onSignal = (): void => {
    last = last.then(async () => {
      log.info('SIGHUP: reloading the certificates');
      await Promise.all([reloadBridge(), engine.reloadCertificates()]);
      log.info('the certificates are reloaded');
    }).catch((error: unknown) => log.error({ err: error }, 'the certificates could not be reloaded'));
  };
  process.on('SIGHUP', onSignal);
  return () => process.off('SIGHUP', onSignal);
}
