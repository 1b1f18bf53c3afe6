import type { HealthMessage } from '../wire/health.ts';
import type { ClientEntry } from './clients.ts';
import type { Environment } from './environment.ts';
import type { DirectBytes } from './limits/direct-traffic.ts';
import type { Tunnels } from './tunnels/tunnels.ts';

/** Applies the reports of agents, for the tunnels and hosts of their own clients only. */
export class AgentReports {
  readonly #environment: Environment;
  readonly #tunnels: Tunnels;

  constructor(environment: Environment, tunnels: Tunnels) {
    this.#environment = environment;
    this.#tunnels = tunnels;
  }

  /** Counts bytes that direct paths of a tunnel carried. */
  onTraffic(entry: ClientEntry, tunnelId: number, reported: DirectBytes): void {
    const runner = this.#tunnels.get(tunnelId);
    const bytes = runner?.wanted.clientId === entry.wanted.id ? runner.believable(reported) : undefined;
    if (!runner || !bytes) return;
    for (const meter of [runner.meter, entry.meter]) {
      meter.countInlet(bytes.inlet);
      meter.countExport(bytes.exported);
    }
    // Cuts off the client, direct paths included, if its limit is exceeded.
    entry.meter.mayPass();
  }

  /** The results of the checks of a tunnel or host, from an agent that is connected to this server. */
  onHealth(entry: ClientEntry, message: HealthMessage): void {
    const record = this.#recordOf(entry, message);
    if (!record) return;
    const own = new Set(record.wanted.targets);
    const report = { ...message, targets: message.targets.filter(({ target }) => own.has(target)) };
    this.#environment.nodes?.health(entry.wanted.id, report);
    this.useHealth(entry, report);
  }

  /** The results of the checks of a tunnel or host. */
  useHealth(entry: ClientEntry, message: HealthMessage): void {
    if (!this.#recordOf(entry, message)) return;
    const { hosts, now } = this.#environment;
    if (message.of === 'tunnel') {
      this.#tunnels.get(message.id)?.onHealth(message, now());
      return;
    }
    hosts.onHealth(message, now());
    const host = hosts.get(message.id);
    if (host) this.#environment.changed('host', host.id);
  }

  /** What a report is about; undefined = a tunnel or host that belongs to another client, or was deleted: the report does not count. */
  #recordOf({ wanted }: ClientEntry, { of, id }: HealthMessage) {
    const record = of === 'tunnel' ? this.#tunnels.get(id) : this.#environment.hosts.get(id);
    return record?.wanted.clientId === wanted.id ? record : undefined;
  }

  /** A client's agent connected to this server, or disconnected. */
  onSeen(entry: ClientEntry): void {
    if (entry.session) this.#environment.nodes?.agentConnected(entry.wanted.id);
    else this.#environment.nodes?.agentDisconnected(entry.wanted.id, entry.ended);
    this.onMoved(entry);
  }

  /** A client's agent connected or disconnected, here or at another server. */
  onMoved(entry: ClientEntry): void {
    this.#environment.changed('client', entry.wanted.id);
    for (const runner of entry.tunnels) {
      runner.forgetHealth();
      runner.clientChanged();
    }
    for (const id of this.#environment.hosts.forgetHealth(entry.wanted.id)) this.#environment.tell('host', id);
  }
}
