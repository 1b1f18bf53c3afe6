import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { authKey } from '../../test/support/processes.ts';
import { Child } from '../../test/support/child.ts';
import { freePort } from '../../test/support/free-port.ts';
import { scratchDirectory } from '../../test/support/scratch.ts';
import { answering, serving } from '../answering.ts';
import { binaries } from './binaries.ts';
import type { Side } from './side.ts';

const programs = binaries('BENCH_NPS', ['nps', 'npc', 'web']);

/** Why no NPS server can be measured here, if so. */
export const npsMissing = programs.missing;

/** An NPS server over records of its own files; its API takes the calls that {@link authKey} signs. */
export interface NpsServer {
  readonly child: Child;
  readonly httpPort: number;
  readonly bridgePort: number;
  readonly hostsPort: number;
}

/** The records of each of its files. */
export interface NpsRecords {
  readonly clients: readonly object[];
  readonly tasks?: readonly object[];
  readonly hosts?: readonly object[];
}

/** A client's record. */
export function npsClient(id: number, key: string, remark: string): object {
  return {
    Id: id,
    VerifyKey: key,
    Remark: remark,
    Status: true,
    Cnf: { U: '', P: '', Compress: false, Crypt: false },
    Flow: { InletFlow: 0, ExportFlow: 0, FlowLimit: 0 },
    ConfigConnAllow: true,
  };
}

/** Starts the server in its own directory: it looks for `conf` and `web` next to its program. */
export async function startNps({ clients, tasks = [], hosts = [] }: NpsRecords): Promise<NpsServer> {
  const [httpPort, bridgePort, hostsPort] = [await freePort(), await freePort(), await freePort()];
  const directory = scratchDirectory();
  const file = (name: string): string => path.join(directory, name);
  mkdirSync(file('conf'));
  symlinkSync(programs.of('web'), file('web'));
  copyFileSync(programs.of('nps'), file('nps'));
  for (const [name, records] of Object.entries({ clients, tasks, hosts })) {
    writeFileSync(
      file(`conf/${name}.json`),
      records.map((record) => `${JSON.stringify(record)}\n*#*`).join(''),
    );
  }
  writeFileSync(
    file('conf/nps.conf'),
    [
      'appname=nps',
      'runmode=pro',
      'log_level=3',
      `log_path=${file('nps.log')}`,
      'disconnect_timeout=60',
      'bridge_type=tcp',
      'bridge_ip=127.0.0.1',
      `bridge_port=${bridgePort}`,
      'http_proxy_ip=127.0.0.1',
      `http_proxy_port=${hostsPort}`,
      'https_proxy_port=',
      'web_ip=127.0.0.1',
      `web_port=${httpPort}`,
      'web_host=nps.invalid',
      'web_username=admin',
      `web_password=${authKey}`,
      'web_base_url=',
      `auth_key=${authKey}`,
      'auth_crypt_key=',
      'allow_user_login=false',
      'allow_flow_limit=false',
      'allow_rate_limit=false',
      'allow_tunnel_num_limit=false',
      'allow_connection_num_limit=false',
      '',
    ].join('\n'),
  );
  const child = new Child(file('nps'), []);
  for (const port of [httpPort, bridgePort]) await answering(port, child);
  return { child, httpPort, bridgePort, hostsPort };
}

/** An NPS server and its client, neither encrypted nor compressed. */
export const nps: Side = {
  name: 'NPS',
  programs: [],
  missing: npsMissing,
  async start(targets) {
    const ports = { http: await freePort(), echo: await freePort(), udp: await freePort(), socks5: await freePort(), httpProxy: await freePort() };
    const client = npsClient(1, 'bench', 'bench');
    const to = (port: number): object => ({ Target: { TargetStr: `127.0.0.1:${port}`, LocalProxy: false } });
    const flow = { InletFlow: 0, ExportFlow: 0, FlowLimit: 0 };
    const task = (Id: number, Mode: string, Port: number, target: number): object => ({
      Id,
      Client: client,
      Mode,
      Port,
      ServerIp: '127.0.0.1',
      Status: true,
      RunStatus: true,
      Flow: flow,
      ...to(target),
    });
    const server = await startNps({
      clients: [client],
      tasks: [
        task(1, 'tcp', ports.http, targets.http),
        task(2, 'tcp', ports.echo, targets.echo),
        task(3, 'udp', ports.udp, targets.udp),
        task(4, 'socks5', ports.socks5, targets.http),
        task(5, 'httpProxy', ports.httpProxy, targets.http),
      ],
      hosts: [{ Id: 1, Client: client, Host: 'localhost', Location: '/', Scheme: 'all', Flow: flow, ...to(targets.http) }],
    });
    const agent = new Child(programs.of('npc'), [`-server=127.0.0.1:${server.bridgePort}`, '-vkey=bench', '-type=tcp']);
    for (const port of [ports.http, server.hostsPort]) await serving(port, agent);
    return {
      name: 'NPS',
      ports: { ...ports, hosts: server.hostsPort },
      pids: [server.child.pid, agent.pid],
      stop: async () => {
        await agent.end();
        await server.child.end();
      },
    };
  },
};
