import type { WantedHost } from '../face.ts';

/** Settings that few hosts have. */
type Rare = Pick<
  WantedHost,
  'location' | 'scheme' | 'localProxy' | 'headers' | 'hostChange' | 'certificate' | 'privateKey' | 'autoHttps' | 'acme' | 'namedByAdmin'
>;

/** Shared by the hosts that have none of them. */
const NONE: Rare = {
  location: '/',
  scheme: 'all',
  localProxy: false,
  headers: [],
  hostChange: '',
  certificate: '',
  privateKey: '',
  autoHttps: false,
  acme: false,
  namedByAdmin: false,
};
/** As above, for hosts that an administrator named. */
const NAMED_BY_ADMIN: Rare = { ...NONE, namedByAdmin: true };

/** A host as the engine keeps it: there may be hundreds of thousands, most of them at rest. Do not spread it: the copy would lack most settings. */
class KeptHost implements WantedHost {
  readonly id: number;
  readonly clientId: number;
  readonly host: string;
  readonly enabled: boolean;
  /** Most have one. */
  readonly #targets: string | readonly string[];
  readonly #rare: Rare;

  constructor(wanted: WantedHost) {
    this.id = wanted.id;
    this.clientId = wanted.clientId;
    this.host = wanted.host;
    this.enabled = wanted.enabled;
    this.#targets = wanted.targets.length === 1 ? wanted.targets[0] ?? '' : wanted.targets;
    this.#rare = rareOf(wanted);
  }

  get targets(): readonly string[] {
    return typeof this.#targets === 'string' ? [this.#targets] : this.#targets;
  }

  get location(): string {
    return this.#rare.location;
  }

  get scheme(): WantedHost['scheme'] {
    return this.#rare.scheme;
  }

  get localProxy(): boolean {
    return this.#rare.localProxy;
  }

  get headers(): readonly string[] {
    return this.#rare.headers;
  }

  get hostChange(): string {
    return this.#rare.hostChange;
  }

  get certificate(): string {
    return this.#rare.certificate;
  }

  get privateKey(): string {
    return this.#rare.privateKey;
  }

  get autoHttps(): boolean {
    return this.#rare.autoHttps;
  }

  get acme(): boolean {
    return this.#rare.acme;
  }

  get namedByAdmin(): boolean {
    return this.#rare.namedByAdmin;
  }
}

function rareOf(wanted: WantedHost): Rare {
  const { location, scheme, localProxy, headers, hostChange, certificate, privateKey, autoHttps, acme, namedByAdmin } = wanted;
  const texts = headers.length + hostChange.length + certificate.length + privateKey.length;
  if (texts === 0 && location === '/' && scheme === 'all' && !localProxy && !autoHttps && !acme) return namedByAdmin ? NAMED_BY_ADMIN : NONE;
  return { location, scheme, localProxy, headers, hostChange, certificate, privateKey, autoHttps, acme, namedByAdmin };
}

/** A host's settings in the form that the engine keeps. */
export function keptHost(wanted: WantedHost): WantedHost {
  return wanted instanceof KeptHost ? wanted : new KeptHost(wanted);
}
