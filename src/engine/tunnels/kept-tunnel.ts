import type { WantedTunnel } from '../face.ts';

/** Settings that few tunnels have. */
type Rare = Pick<WantedTunnel, 'serverIp' | 'localProxy' | 'localPath' | 'stripPrefix' | 'proxyProtocol' | 'accounts'>;

/** Shared by the tunnels that have none of them. */
const NONE: Rare = { serverIp: '', localProxy: false, localPath: '', stripPrefix: '', proxyProtocol: '', accounts: [] };

/** A tunnel as the engine keeps it: there may be hundreds of thousands, most of them at rest. Do not spread it: the copy would lack most settings. */
class KeptTunnel implements WantedTunnel {
  readonly id: number;
  readonly clientId: number;
  readonly mode: string;
  readonly enabled: boolean;
  readonly port: number;
  readonly password: string;
  /** Most have one. */
  readonly #targets: string | readonly string[];
  readonly #rare: Rare;

  constructor(wanted: WantedTunnel) {
    this.id = wanted.id;
    this.clientId = wanted.clientId;
    this.mode = wanted.mode;
    this.enabled = wanted.enabled;
    this.port = wanted.port;
    this.password = wanted.password;
    this.#targets = wanted.targets.length === 1 ? wanted.targets[0] ?? '' : wanted.targets;
    this.#rare = rareOf(wanted);
  }

  get targets(): readonly string[] {
    return typeof this.#targets === 'string' ? [this.#targets] : this.#targets;
  }

  get serverIp(): string {
    return this.#rare.serverIp;
  }

  get localProxy(): boolean {
    return this.#rare.localProxy;
  }

  get localPath(): string {
    return this.#rare.localPath;
  }

  get stripPrefix(): string {
    return this.#rare.stripPrefix;
  }

  get proxyProtocol(): WantedTunnel['proxyProtocol'] {
    return this.#rare.proxyProtocol;
  }

  get accounts(): WantedTunnel['accounts'] {
    return this.#rare.accounts;
  }
}

function rareOf({ serverIp, localProxy, localPath, stripPrefix, proxyProtocol, accounts }: WantedTunnel): Rare {
  const texts = serverIp.length + localPath.length + stripPrefix.length + proxyProtocol.length + accounts.length;
  return texts === 0 && !localProxy ? NONE : { serverIp, localProxy, localPath, stripPrefix, proxyProtocol, accounts };
}

/** A tunnel's settings in the form that the engine keeps. */
export function keptTunnel(wanted: WantedTunnel): WantedTunnel {
  return wanted instanceof KeptTunnel ? wanted : new KeptTunnel(wanted);
}

/** The settings with other targets. */
export function withTargets(wanted: WantedTunnel, targets: readonly string[]): WantedTunnel {
  const { id, clientId, mode, enabled, port, password, serverIp, localProxy, localPath, stripPrefix, proxyProtocol, accounts } = wanted;
  return { id, clientId, mode, enabled, port, password, serverIp, localProxy, localPath, stripPrefix, proxyProtocol, accounts, targets };
}
