import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { Lineage } from '../../src/migration/nps/export/records.ts';
import { npsClient, npsHost, type NpsRecord, npsTunnel, npsUser } from './nps-folder.ts';

/** How many records a generated folder has. */
export interface Load {
  readonly clients: number;
  readonly tunnels: number;
  readonly hosts: number;
  /** In lineages without users: clients with a web login. */
  readonly users: number;
}

/** A tunnel of the folder that is started and listens. */
export interface LoadedTunnel {
  readonly id: number;
  readonly clientId: number;
  readonly mode: string;
  readonly port: number;
}

/** The first port of the tunnels, and their address: other programs of this machine listen elsewhere. */
const firstPort = 8500;
/** @see firstPort */
export const loadAddress = '127.77.0.1';
/** Of ten tunnels, what each is: most of a large installation have no port, or are stopped. */
const modes = ['secret', 'tcp', 'secret', 'p2p', 'stopped', 'secret', 'p2p', 'stopped', 'secret', 'other'] as const;
const others = ['udp', 'httpProxy', 'socks5', 'file'] as const;

/**
 * Writes a folder as a server of the lineage would after years: every record with a remark, counters and limits, ids with gaps, and in the lineages Y and D
 * a stale copy of its client in each tunnel and host.
 * @param target of all tunnels and hosts @returns the tunnels that listen
 */
export function writeLoad(directory: string, lineage: Lineage, load: Load, target: string): LoadedTunnel[] {
  mkdirSync(directory, { recursive: true });
  const clientId = (index: number): number => 1 + 2 * (index % load.clients);
  const clients = (index: number): NpsRecord => {
    const isUser = lineage !== 'Z' && index < load.users;
    return npsClient({
      Id: clientId(index),
      VerifyKey: `key-${index}-0123456789abcdef`,
      Remark: `office ${index} &amp; branch 办公室`,
      Cnf: { U: index % 5 === 0 ? 'visitor' : '', P: index % 5 === 0 ? 'a secret' : '', Compress: index % 2 === 0, Crypt: false },
      Flow: { InletFlow: index * 1_000_003, ExportFlow: index * 7, FlowLimit: 0, ...(lineage === 'D' && { TimeLimit: '0001-01-01T00:00:00Z' }) },
      RateLimit: index % 3 === 0 ? 10_000 : 0,
      BlackIpList: [`192.0.2.${index % 250}`, '198.51.100.7'],
      ...(isUser && { WebUserName: `login${index}`, WebPassword: `password ${index}` }),
      ...(lineage === 'Z' && { UserId: index % 2 === 0 && load.users > 0 ? 1 + index % load.users : 0 }),
      ...(lineage !== 'D' && { IpWhite: false, IpWhitePass: '', IpWhiteList: null, ExpireTime: '' }),
      ...(lineage === 'D' && { Mode: '', InletFlow: index * 1_000_003, ExportFlow: index * 7, LocalAddr: '192.168.1.2' }),
      LastOnlineTime: '2025-05-06 07:08:09',
      Addr: '203.0.113.9',
      Version: '0.26.10',
    });
  };
  const owner = (index: number): NpsRecord => lineage === 'Z' ? { Id: clientId(index) } : { ...clients(index % load.clients), Remark: 'a stale copy' };
  const listening: LoadedTunnel[] = [];
  const tunnels = (index: number): NpsRecord => {
    const Id = 10 + 3 * index;
    const kind = modes[index % modes.length] ?? 'secret';
    const mode = kind === 'stopped' ? 'tcp' : kind === 'other' ? others[Math.floor(index / 10) % others.length] ?? 'udp' : kind;
    const keyed = mode === 'secret' || mode === 'p2p';
    const isStarted = kind !== 'stopped';
    // Stopped tunnels have the ports of others, as in old installations.
    const port = keyed ? 0 : firstPort + Math.floor(index / modes.length) * 2 + (kind === 'other' ? 1 : 0);
    if (isStarted && !keyed) listening.push({ id: Id, clientId: clientId(index), mode, port });
    return npsTunnel({
      Id,
      Client: owner(index),
      Mode: lineage === 'D' && (mode === 'httpProxy' || mode === 'socks5') ? 'mixProxy' : mode,
      ...(lineage === 'D' && { HttpProxy: mode === 'httpProxy', Socks5Proxy: mode === 'socks5' }),
      Port: port,
      ServerIp: keyed ? '' : loadAddress,
      Status: isStarted,
      RunStatus: isStarted,
      Password: keyed ? `visitor ${index} 0123456789` : '',
      Remark: `tunnel ${index} &lt;ssh&gt;`,
      Target: { TargetStr: mode === 'tcp' || mode === 'udp' || keyed ? target : '', TargetArr: null, LocalProxy: false },
      LocalPath: mode === 'file' ? '/srv/files' : '',
      Flow: { InletFlow: index * 11, ExportFlow: index * 13, FlowLimit: 0 },
    });
  };
  const hosts = (index: number): NpsRecord =>
    npsHost({
      Id: 5 + 2 * index,
      Client: owner(index),
      Host: `h${index}.example.com`,
      Remark: `host ${index}`,
      HeaderChange: 'X-From: adit\r\nX-Second: 2',
      Target: { TargetStr: target, TargetArr: null, LocalProxy: false },
      Flow: { InletFlow: index, ExportFlow: index * 2, FlowLimit: 0 },
    });
  const users = (index: number): NpsRecord => npsUser({ Id: 1 + index, UserName: `user${index}`, Password: `password ${index}` });
  writeRecords(path.join(directory, 'clients.json'), load.clients, clients);
  writeRecords(path.join(directory, 'tasks.json'), load.tunnels, tunnels);
  writeRecords(path.join(directory, 'hosts.json'), load.hosts, hosts);
  if (lineage === 'Z') writeRecords(path.join(directory, 'users.json'), load.users, users);
  writeFileSync(path.join(directory, 'global.json'), JSON.stringify({ BlackIpList: ['192.0.2.255'] }));
  writeFileSync(path.join(directory, 'nps.conf'), 'allow_flow_limit=true\nallow_rate_limit=true\n');
  return listening;
}

function writeRecords(file: string, count: number, record: (index: number) => NpsRecord): void {
  const descriptor = openSync(file, 'wx');
  for (let start = 0; start < count; start += 1000) {
    const some = Array.from({ length: Math.min(1000, count - start) }, (_, index) => `${JSON.stringify(record(start + index))}\n*#*`);
    writeSync(descriptor, some.join(''));
  }
  closeSync(descriptor);
}
