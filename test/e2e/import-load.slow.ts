import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { lineages } from '../../src/migration/nps/export/records.ts';
import { type Child, endChildren } from '../support/child.ts';
import { eachDialect } from '../support/database.ts';
import { endurance, sized } from '../support/endurance.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { loadAddress, type LoadedTunnel, writeLoad } from '../support/nps-load.ts';
import { settingsOf, settingsOfServer, type SettingsOf, startCommand } from '../support/nps-command.ts';
import { call, type ServerProcess, startAgent, startServer } from '../support/processes.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';
import { refusal } from '../support/target.ts';
import { udpPeer } from '../support/udp.ts';

// Short form: test/migration/import-nps.test.ts

const LOAD = sized({ clients: 100, tunnels: 500, hosts: 50, users: 5 }, { clients: 10_000, tunnels: 50_000, hosts: 5000, users: 500 });
/** The CPU time that an import may take: on a quiet machine it is about the time. And the memory of its process. */
const [MOST_CPU_MS, MOST_BYTES] = [20_000, 400e6];

afterEach(endChildren);
afterAll(removeScratchDirectories);

/** Runs an import as an operator does. @param server a running one, through which it goes @returns what it printed, its CPU time in ms, and the largest memory in bytes */
async function timed(folder: string, settings: SettingsOf, name: string, server?: Child) {
  const began = performance.now();
  const child = startCommand(['import', 'nps', folder], settings, []);
  const programs = server === undefined ? [child] : [child, server];
  let [memory, cpu] = [0, 0];
  const look = setInterval(() => {
    memory = Math.max(memory, programs.reduce((sum, program) => sum + largestMemory(program), 0));
    cpu = Math.max(cpu, programs.reduce((sum, program) => sum + cpuTime(program), 0));
  }, 50);
  const { code } = await child.exited;
  clearInterval(look);
  const took = performance.now() - began;
  if (endurance) process.stdout.write(`${name}: ${Math.round(took)} ms, ${cpu} ms of CPU, ${Math.round(memory / 1e6)} MB\n`);
  return { code, output: child.output, cpu, memory };
}

/** VmHWM; 0 = the process has ended. */
function largestMemory({ pid }: Child): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(ofProcess(pid, 'status'))?.[1] ?? 0) * 1024;
}

/** In ms. */
function cpuTime({ pid }: Child): number {
  const [user = 0, system = 0] = ofProcess(pid, 'stat').replace(/^.*\) /s, '').split(' ').slice(11, 13).map(Number);
  return (user + system) * 10;
}

function ofProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // it has just ended
  }
}

const list = z.object({ total: z.number(), rows: z.array(z.object({ Id: z.number(), Port: z.number().default(0), RunStatus: z.boolean().default(true) })) });

async function total(server: ServerProcess, route: string): Promise<number> {
  return list.parse(await call(server, route, { offset: 0, limit: 1 })).total;
}

/** Sends a request to an address. @returns the status and body */
async function ask(options: http.RequestOptions): Promise<string> {
  const request = http.request({ agent: false, ...options });
  request.end();
  const [response]: http.IncomingMessage[] = await once(request, 'response');
  let body = '';
  for await (const chunk of response?.setEncoding('utf8') ?? []) body += String(chunk);
  return `${response?.statusCode} ${body}`;
}

/** The first and the last tunnel of a mode. */
function ends(tunnels: readonly LoadedTunnel[], mode: string): LoadedTunnel[] {
  const all = tunnels.filter((tunnel) => tunnel.mode === mode);
  return [...all.slice(0, 1), ...all.slice(-1)];
}

eachDialect(`a folder of ${LOAD.clients} clients, ${LOAD.tunnels} tunnels and ${LOAD.hosts} hosts`, (databases) => {
  test.each(endurance ? lineages : lineages.filter((lineage) => lineage === (databases.dialect === 'sqlite' ? 'Z' : 'D')))(
    'of the lineage %s is imported in time; tunnels listen, hosts answer, agents connect',
    async (lineage) => {
      const web = await startHttpTarget();
      const folder = path.join(scratchDirectory(), 'conf');
      const tunnels = writeLoad(folder, lineage, LOAD, `127.0.0.1:${web.port}`);
      const database = await databases.create();
      const { code, output, cpu, memory } = await timed(folder, settingsOf(database), `${databases.dialect}, lineage ${lineage}`);
      expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('\nImported.\n') });
      expect(cpu).toBeLessThan(MOST_CPU_MS);
      expect(memory).toBeLessThan(MOST_BYTES);

      const server = await startServer({ dataDir: database.dataDir, environment: { ADIT_DATABASE_URL: database.url } });
      expect(await total(server, '/client/list/')).toBe(LOAD.clients);
      expect(await total(server, '/index/gettunnel/')).toBe(LOAD.tunnels);
      expect(await total(server, '/index/hostlist/')).toBe(LOAD.hosts);
      const samples = ['tcp', 'udp', 'httpProxy', 'socks5', 'file'].flatMap((mode) => ends(tunnels, mode));
      for (const { id, clientId } of samples) {
        await eventuallyAsync(
          async () => list.parse(await call(server, '/index/gettunnel/', { client_id: clientId, limit: 1000 })).rows,
          (rows) => rows.find(({ Id }) => Id === id)?.RunStatus === true,
        );
      }
      const [first, last] = ends(tunnels, 'tcp');
      if (first === undefined || last === undefined) throw new Error('the load has too few tunnels');
      const indexOf = ({ clientId }: LoadedTunnel): number => (clientId - 1) / 2;
      const lastHost = LOAD.hosts - 1;
      for (const index of new Set([indexOf(first), indexOf(last), lastHost])) await startAgent(server, `key-${index}-0123456789abcdef`);
      for (const { port } of [first, last]) expect(await ask({ host: loadAddress, port, path: '/t' })).toBe('200 GET /t ');
      for (const index of [indexOf(first), lastHost]) {
        const auth = index % 5 === 0 ? 'visitor:a secret' : undefined;
        expect(await ask({ host: '127.0.0.1', port: server.hostsPort, path: '/h', headers: { host: `h${index}.example.com` }, auth })).toBe('200 GET /h ');
      }
      const [udp] = ends(tunnels, 'udp');
      // Nobody else can bind the port of a tunnel that listens.
      await expect(udpPeer(loadAddress, udp?.port)).rejects.toThrow('EADDRINUSE');
    },
    600_000,
  );

  // Of small folders, test/e2e/import-nps does this.
  if (endurance) {
    test('is imported by a running server', async () => {
      const folder = path.join(scratchDirectory(), 'conf');
      const [tunnel] = ends(writeLoad(folder, 'Z', LOAD, '127.0.0.1:1'), 'tcp');
      const { url } = await databases.create();
      const server = await startServer({ environment: { ADIT_DATABASE_URL: url } });
      const settings = { ...settingsOfServer(server), ADIT_DATABASE_URL: url };
      const { code, output } = await timed(folder, settings, `${databases.dialect}, through a running server`, server.child);
      expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('\nImported.\n') });
      expect(await total(server, '/index/gettunnel/')).toBe(LOAD.tunnels);
      expect(await refusal(tunnel?.port ?? 0, loadAddress)).not.toBe('ECONNREFUSED');
    }, 600_000);
  }
});
