import { setImmediate } from 'node:timers/promises';
import { certificateStatusOf } from '../rules/certificate.ts';
import type { ListedCertificate, Troubles } from './face.ts';
import type { ReportedHealth } from './health/reported-health.ts';
import type { Tunnels } from './tunnels/tunnels.ts';
import type { Hosts } from './vhost/hosts.ts';

/** Tunnels or hosts that are looked at before the event loop goes on. */
const together = 500;

/** A tunnel or host with targets. */
interface Checked {
  readonly health: ReportedHealth | undefined;
  readonly wanted: { readonly id: number; readonly clientId: number; readonly enabled: boolean; readonly targets: readonly string[] };
}

/** All tunnels and hosts, at a time. */
export interface Entrances {
  readonly tunnels: Tunnels;
  readonly hosts: Hosts;
  /** ms since the epoch */
  readonly now: number;
}

/** @see EngineFace.listedCertificates */
export async function listedCertificates({ hosts, now }: Pick<Entrances, 'hosts' | 'now'>): Promise<ListedCertificate[]> {
  const listed: ListedCertificate[] = [];
  for await (const { entry: { id, host }, certificate: { status: { facts, problem } } } of hosts.certificates()) {
    listed.push({ id, status: certificateStatusOf(facts, problem, now, host), until: facts?.validTo.getTime() ?? null });
  }
  return listed;
}

/** @see EngineFace.troubles */
export async function troublesOf({ tunnels, hosts, now }: Entrances): Promise<Troubles> {
  const certificates: Troubles['certificates'][number][] = [];
  for await (const { entry: { id, host, enabled, wanted: { clientId } }, certificate: { status: { facts, problem } } } of hosts.certificates()) {
    const status = certificateStatusOf(facts, problem, now, host);
    if (enabled && status !== 'valid') certificates.push({ id, clientId, status });
  }
  return { certificates, unhealthyTunnels: await unhealthy(tunnels.all()), unhealthyHosts: await unhealthy(hosts.all()) };
}

async function unhealthy(all: Iterable<Checked>): Promise<Troubles['unhealthyTunnels']> {
  const found: Troubles['unhealthyTunnels'][number][] = [];
  let looked = 0;
  for (const { health, wanted } of all) {
    if (++looked % together === 0) await setImmediate();
    if (!health) continue;
    const { id, clientId, enabled, targets } = wanted;
    if (enabled && targets.length > 0 && health.healthyTargets(targets).length === 0) found.push({ id, clientId });
  }
  return found;
}
