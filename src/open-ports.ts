import { listenProblem } from './engine/ports/listen-error.ts';
import { flagName, type SettingName, type Settings } from './settings/settings.ts';
import { portOf } from './wire/system-error.ts';
import { bracketed } from './rules/host-port.ts';

/** The settings of an address and of the ports to open on it. */
export interface Place {
  readonly host: 'bridgeHost' | 'httpHost' | 'vhostHost';
  readonly ports: readonly SettingName[];
}

/** A port of the server can't be opened. The message is one line for the operator, and names the settings of the port. */
class PortError extends Error {
  override readonly name = 'PortError';
}

/**
 * Opens ports.
 * @param open rejects with the system's error if a port can't be opened
 * @throws {PortError}
 */
export async function openPorts<T>(settings: Settings, { host, ports }: Place, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    const port = portOf(error);
    // An error without a port concerns the address. Two settings may have the same port number.
    const meant = ports.filter((name) => port === undefined || settings[name] === port);
    const address = settings[host];
    const shown = `${bracketed(address)}${port === undefined ? '' : `:${port}`}`;
    const flags = [host, ...meant].map(flagName).join(', ');
    throw new PortError(`can't listen on ${shown} (${flags}): ${listenProblem(error, address, port)}`, { cause: error });
  }
}
