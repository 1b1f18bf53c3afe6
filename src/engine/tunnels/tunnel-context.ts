import type { Login } from '../../rules/login.ts';
import type { Environment } from '../environment.ts';
import type { RefusalCause, WantedTunnel } from '../face.ts';
import type { Carrier } from '../limits/admission.ts';
import type { Meter } from '../limits/meter.ts';
import type { VisitorTrace } from '../limits/visitor-trace.ts';
import { Connections } from './connections.ts';

/** The engine as a running tunnel sees it: the environment, and calls that concern this tunnel. */
export class TunnelContext {
  readonly environment: Environment;
  readonly connections: Connections;
  readonly #meter: Meter;
  readonly #wanted: () => WantedTunnel;

  /** @param wanted the tunnel's settings as they are now */
  constructor(environment: Environment, meter: Meter, wanted: () => WantedTunnel) {
    this.environment = environment;
    this.connections = new Connections(meter, environment.visitors);
    this.#meter = meter;
    this.#wanted = wanted;
  }

  /** The tunnel's name in requests to agents (wire/open.ts). */
  get by(): string {
    return `tunnel ${this.#wanted().id}`;
  }

  /** The tunnel's targets, whether or not they are healthy. */
  get targets(): readonly string[] {
    return this.#wanted().targets;
  }

  /**
   * Called for every new connection. undefined = refuse it: the agent is offline, the client may not serve, or a limit is reached. The refusal
   * is counted already.
   * @param address the visitor's, IPv4-mapped ones as IPv4
   * @param visitor the connection, for the trace
   */
  admit(address: string, visitor: object): Carrier | undefined {
    const admitted = this.environment.admit(this.#wanted(), address);
    if (typeof admitted === 'string') {
      this.refused(admitted, visitor);
      return undefined;
    }
    this.trace?.say(visitor, 'admitted', { clientId: this.#wanted().clientId });
    return admitted;
  }

  /** Follows connections; undefined = tracing is off. */
  get trace(): VisitorTrace | undefined {
    return this.environment.visitors.trace;
  }

  /** Counts a connection that was refused for another cause. @param visitor as for `admit`; undefined = there is none yet */
  refused(cause: RefusalCause, visitor: object | undefined): void {
    this.trace?.say(visitor, 'refused', { tunnelId: this.#wanted().id, cause });
    this.#meter.countRefusal(cause);
    this.environment.refused(this.#wanted().clientId, cause);
  }

  /** Whether the proxy asks for user name and password: those of one of its accounts, or else the client's. */
  asksForLogin(): boolean {
    return this.#wanted().accounts.length > 0 || this.environment.logins.of(this.#wanted().clientId) !== undefined;
  }

  /** Whether a visitor's user name and password are right. Wrong ones delay the visitor's address. */
  acceptsLogin(given: Login, address: string): boolean {
    const { clientId, accounts } = this.#wanted();
    return this.environment.logins.accept(clientId, given, address, accounts);
  }
}
