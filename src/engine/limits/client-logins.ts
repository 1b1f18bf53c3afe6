import type { Attempts } from '../../rules/attempts.ts';
import { type Login, sameLogin } from '../../rules/login.ts';
import type { WantedClient } from '../face.ts';

/** Stands for an account that does not exist. */
const nobody: Login = { user: '', password: '' };

/** The logins that the proxies and hosts of clients ask for. */
export class ClientLogins {
  readonly #clientOf: (id: number) => WantedClient | undefined;
  readonly #attempts: Attempts;
  readonly #now: () => number;

  /** @param clientOf undefined = there is none of that id */
  constructor(clientOf: (id: number) => WantedClient | undefined, attempts: Attempts, now: () => number) {
    this.#clientOf = clientOf;
    this.#attempts = attempts;
    this.#now = now;
  }

  /** The login of a client, if both parts are set (contract 4.6); undefined = none. */
  of(clientId: number): Login | undefined {
    const { basicUser, basicPassword } = this.#clientOf(clientId) ?? {};
    return basicUser && basicPassword ? { user: basicUser, password: basicPassword } : undefined;
  }

  /**
   * Whether a visitor is authorized. An address with too many wrong guesses is refused for a while.
   * @param accounts of a proxy: if there are any, only they count
   */
  accept(clientId: number, given: Login, address: string, accounts: readonly Login[] = []): boolean {
    const wanted = accounts.length === 0 ? this.of(clientId) : accounts.find(({ user }) => user === given.user) ?? nobody;
    if (!wanted) return true;
    // The address is a part of the name: with a limit by client alone, an attacker could lock all visitors out.
    return this.#attempts.guess('basic', address, `client ${clientId} from ${address}`, this.#now(), () => wanted !== nobody && sameLogin(given, wanted))
      === 'right';
  }
}
