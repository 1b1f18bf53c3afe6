import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { Child } from '../support/child.ts';
import { AGENT_KEYS, type DevelopmentData, seedDevelopment, USER_PASSWORD, writeSharedFiles } from '../support/development-data.ts';
import { programOf, startServer } from '../support/processes.ts';
import { Program, builtRoot } from './program.ts';
import { startTargets } from './targets.ts';
import { onSave } from './watch.ts';

/*
 * `npm run dev`: a server with data to try everything on, two agents and their targets, restarted whenever a source is saved. Agents go on if nothing of
 * theirs has changed, targets always. Ctrl-C ends all.
 */
const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string', default: path.resolve(import.meta.dirname, '../../data/dev') },
    fresh: { type: 'boolean', default: false },
    'free-ports': { type: 'boolean', default: false },
  },
});
const dataDir = path.resolve(values['data-dir']);
const free = values['free-ports'];
/** How long the programs may take to end, in ms. */
const END_MS = 3000;

if (values.fresh) rmSync(dataDir, { recursive: true, force: true });
mkdirSync(dataDir, { recursive: true });
/** What was given to the server; it is there once all of it was. */
const seedFile = path.join(dataDir, 'development.json');
const files = writeSharedFiles(dataDir);
const program = await Program.built();
const targets = { ...await startTargets(free ? 0 : 18_001), files };
/** The ports that the first start got: the next ones keep them. */
let ports: Readonly<Record<string, string>> = free
  ? {}
  : { ADIT_HTTP_PORT: '8080', ADIT_BRIDGE_PORT: '8024', ADIT_BRIDGE_TLS_PORT: '8025', ADIT_VHOST_HTTP_PORT: '8000', ADIT_VHOST_HTTPS_PORT: '8443' };
let server: Child | undefined;
let agents: readonly Child[] = [];
/** What the agents that run were started from. */
let agentParts = '';
let ending = false;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Passes on what a program says, each line behind its name. */
function named(name: string): (text: string) => void {
  return (text) => say(text.trimEnd().split('\n').map((line) => `${name.padEnd(6)} | ${line}`).join('\n'));
}

/** The commands that the server proposes are new the first time only. */
function withoutNextCommands(text: string): string {
  return text.replace(/\nNext, in another terminal:\n[^]*Ctrl-C here stops the server\.\n/, '');
}

async function start(): Promise<void> {
  const since = performance.now();
  const logging = { ADIT_SOCKETS: 'captured', ADIT_LOG_LEVEL: process.env['ADIT_LOG_LEVEL'] ?? 'info' };
  const print = named('server');
  const first = server === undefined;
  const started = await startServer({
    root: builtRoot,
    dataDir,
    said: first ? print : (text) => print(withoutNextCommands(text)),
    environment: { ...logging, ...ports, ADIT_ADMIN_PASSWORD: USER_PASSWORD, ADIT_DRAIN_SECONDS: '0' },
  });
  server = started.child;
  const { httpPort, bridgePort, tlsPort, hostsPort, secureHostsPort } = started;
  ports = {
    ADIT_HTTP_PORT: `${httpPort}`,
    ADIT_BRIDGE_PORT: `${bridgePort}`,
    ADIT_BRIDGE_TLS_PORT: `${tlsPort}`,
    ADIT_VHOST_HTTP_PORT: `${hostsPort}`,
    ADIT_VHOST_HTTPS_PORT: `${secureHostsPort}`,
  };
  if (!existsSync(seedFile)) writeFileSync(seedFile, JSON.stringify(await seedDevelopment(started, targets, free ? 0 : 19_001)));
  const said = agents.map(({ output }) => output.length);
  if (agents.length > 0) resumeAgents();
  else {
    agentParts = program.agentParts;
    agents = ['office', 'home'].map((name, index) =>
      new Child(process.execPath, [programOf(builtRoot), 'agent', '--server', `127.0.0.1:${bridgePort}`, '--allow-files', files], {
        ...logging,
        ADIT_VKEY: AGENT_KEYS[index] ?? '',
      }, named(name))
    );
  }
  // Not awaited: an agent that does not get there must not keep the next save waiting.
  Promise.all(agents.map((agent, index) => agent.says(/connected to/, said[index]))).then(() => {
    say(
      `\nready after ${
        ((performance.now() - since) / 1000).toFixed(1)
      } s: http://127.0.0.1:${httpPort}/graphql\nLogin names: admin, alice, bob; password: ${USER_PASSWORD}. Saving a file below src restarts it, Ctrl-C ends it.`,
    );
  }, (error: unknown) => {
    if (started.child === server) say(String(error)); // else they were stopped
  });
}

/** Agents that go on sleep while there is no server: they would wait longer after each attempt to connect. */
function pauseAgents(): void {
  if (process.platform !== 'win32') { for (const agent of agents) agent.kill('SIGSTOP'); }
}

function resumeAgents(): void {
  if (process.platform !== 'win32') { for (const agent of agents) agent.kill('SIGCONT'); }
}

/** Stops the server, and the agents unless they go on. */
async function stop(agentsGoOn = false): Promise<void> {
  const all = [...server ? [server] : [], ...agentsGoOn ? [] : agents];
  if (agentsGoOn) pauseAgents();
  else {
    resumeAgents(); // one that sleeps ends by no SIGTERM
    agents = [];
  }
  for (const child of all) child.kill('SIGTERM');
  const late = setTimeout(() => {
    for (const child of all) child.kill('SIGKILL');
  }, END_MS);
  await Promise.all(all.map(({ exited }) => exited));
  clearTimeout(late);
}

/** What a developer can try. */
function overview({ tunnels, hosts, faults }: DevelopmentData): string {
  const wrong = faults.map(({ gate, tunnel, host }) => `  ${gate.padEnd(11)} ${host === undefined ? `tunnel ${tunnel}` : `host ${host}`}`);
  return [
    'Tunnels by id: ' + Object.entries(tunnels).map(([type, id]) => `${type} ${id}`).join(', '),
    `Hosts: ${hosts.join(', ')}`,
    'Faults, by the gate of the diagnosis:',
    ...wrong,
  ].join('\n');
}

async function end(code: number): Promise<never> {
  if (ending) process.exit(1); // kills what is left (Child)
  ending = true;
  await Promise.all([stop(), program.end()]);
  process.exit(code);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(0));
try {
  await start();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  await end(1);
}
const seeded: DevelopmentData = JSON.parse(readFileSync(seedFile, 'utf8'));
say(overview(seeded));
onSave(async (file) => {
  if (ending) return;
  say(`\n${file} was saved`);
  try {
    await program.rebuild(file);
    await stop(program.agentParts === agentParts && agents.every(({ over }) => !over));
    if (!ending) await start();
  } catch (error) {
    // The next save may fix it.
    say(error instanceof Error ? error.message : String(error));
  }
});
