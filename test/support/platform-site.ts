import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll } from '@jest/globals';
import { covering } from './certificates.ts';
import { type Child, endChildren } from './child.ts';
import { call, startAgent, startServer, type ServerProcess, write } from './processes.ts';
import { removeScratchDirectories, scratchDirectory } from './scratch.ts';

/** A site of a platform domain: server and agent in processes of their own, the wildcard's certificate, and a host that leads to a target. */
export interface PlatformSite {
  readonly server: ServerProcess;
  readonly agent: Child;
  /** Of the host. */
  readonly name: string;
  /** The certificate, for those who trust it. */
  readonly certificate: string;
  readonly http: string;
  readonly https: string;
}

/** Starts it for all tests of a file, through the API that an operator uses; to be called in beforeAll. @param target host:port */
export async function startPlatformSite(target: string): Promise<PlatformSite> {
  const directory = scratchDirectory();
  const [CertFilePath, KeyFilePath] = [path.join(directory, 'cert.pem'), path.join(directory, 'key.pem')];
  writeFileSync(CertFilePath, covering.certificate);
  writeFileSync(KeyFilePath, covering.key);
  const server = await startServer({ environment: { ADIT_LOG_LEVEL: 'warn' } });
  const clientId = await write(server, '/client/add/', { vkey: 'site', remark: 'site' });
  const agent = await startAgent(server, 'site');
  await call(server, '/global/save/', { platform_domains: JSON.stringify([{ ID: 'p', Wildcard: '*.p.example.com', CertFilePath, KeyFilePath }]) });
  await write(server, '/index/addhost/', {
    client_id: clientId,
    domain_mode: 'platform',
    platform_domain_id: 'p',
    platform_prefix: 'shop',
    scheme: 'all',
    target,
  });
  const name = 'shop.p.example.com';
  return { server, agent, name, certificate: CertFilePath, http: `http://${name}:${server.hostsPort}`, https: `https://${name}:${server.secureHostsPort}` };
}

afterAll(async () => {
  await endChildren();
  removeScratchDirectories();
});
