import type { WantedClient } from './face.ts';

/** Settings that few clients have. */
type Rare = Pick<
  WantedClient,
  'basicUser' | 'basicPassword' | 'rateLimit' | 'flowLimit' | 'maxConnections' | 'blackIpList' | 'ipWhiteList' | 'ipWhitePassword'
>;

/** Shared by the clients that have none of them. */
const NONE: Rare = {
  basicUser: '',
  basicPassword: '',
  rateLimit: 0,
  flowLimit: 0,
  maxConnections: 0,
  blackIpList: '',
  ipWhiteList: '',
  ipWhitePassword: '',
};

/** The bits of {@link KeptClient}. */
const [ENABLED, CRYPT, COMPRESS, CONFIG_ALLOWED, IP_WHITE] = [1, 2, 4, 8, 16] as const;

/** A client as the engine keeps it: there may be hundreds of thousands, most of them at rest. Do not spread it: the copy would lack most settings. */
class KeptClient implements WantedClient {
  readonly id: number;
  readonly vkey: string;
  readonly expiresAt: number | null;
  readonly #bits: number;
  readonly #rare: Rare;

  constructor(wanted: WantedClient) {
    this.id = wanted.id;
    this.vkey = wanted.vkey;
    this.expiresAt = wanted.expiresAt;
    this.#bits = (wanted.enabled ? ENABLED : 0) | (wanted.crypt ? CRYPT : 0) | (wanted.compress ? COMPRESS : 0)
      | (wanted.configAllowed ? CONFIG_ALLOWED : 0) | (wanted.ipWhite ? IP_WHITE : 0);
    this.#rare = rareOf(wanted);
  }

  get enabled(): boolean {
    return (this.#bits & ENABLED) !== 0;
  }

  get crypt(): boolean {
    return (this.#bits & CRYPT) !== 0;
  }

  get compress(): boolean {
    return (this.#bits & COMPRESS) !== 0;
  }

  get configAllowed(): boolean {
    return (this.#bits & CONFIG_ALLOWED) !== 0;
  }

  get ipWhite(): boolean {
    return (this.#bits & IP_WHITE) !== 0;
  }

  get basicUser(): string {
    return this.#rare.basicUser;
  }

  get basicPassword(): string {
    return this.#rare.basicPassword;
  }

  get rateLimit(): number {
    return this.#rare.rateLimit;
  }

  get flowLimit(): number {
    return this.#rare.flowLimit;
  }

  get maxConnections(): number {
    return this.#rare.maxConnections;
  }

  get blackIpList(): string {
    return this.#rare.blackIpList;
  }

  get ipWhiteList(): string {
    return this.#rare.ipWhiteList;
  }

  get ipWhitePassword(): string {
    return this.#rare.ipWhitePassword;
  }
}

function rareOf({ basicUser, basicPassword, rateLimit, flowLimit, maxConnections, blackIpList, ipWhiteList, ipWhitePassword }: WantedClient): Rare {
  const texts = basicUser.length + basicPassword.length + blackIpList.length + ipWhiteList.length + ipWhitePassword.length;
  if (texts === 0 && rateLimit === 0 && flowLimit === 0 && maxConnections === 0) return NONE;
  return { basicUser, basicPassword, rateLimit, flowLimit, maxConnections, blackIpList, ipWhiteList, ipWhitePassword };
}

/** A client's settings in the form that the engine keeps. */
export function keptClient(wanted: WantedClient): WantedClient {
  return wanted instanceof KeptClient ? wanted : new KeptClient(wanted);
}
