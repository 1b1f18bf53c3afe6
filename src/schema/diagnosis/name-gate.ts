import { BlockList, connect, isIP } from 'node:net';
import { shareOf } from '../../rules/caller.ts';
import { canonicalAddress } from '../../rules/ip-address.ts';
import type { Context } from '../context.ts';
import { found, type Finding, fix } from './findings.ts';
import { type Gate, passed, stopped, unknown } from './gates.ts';
import type { LookUp } from './name-look-ups.ts';
import type { RouteQuestion } from './route.ts';

/** How long a connection to the server's own port may take, in ms. */
const CONNECT_MS = 3000;
/** Addresses of a name that are compared and shown. */
const mostAddresses = 8;

/** Networks that visitors elsewhere cannot reach. */
const inner = new BlockList();
for (
  const [net, bits] of [['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12], [
    '192.168.0.0',
    16,
  ]] as const
) {
  inner.addSubnet(net, bits, 'ipv4');
}
for (const [net, bits] of [['::', 127], ['fc00::', 7], ['fe80::', 10]] as const) inner.addSubnet(net, bits, 'ipv6');

/**
 * Whether the name of a request leads to this server, and its port can be reached. Connects to the server's own addresses only: a tenant must not be able to
 * scan other machines by names. For the same reason, only administrators learn addresses inside a network.
 */
export async function nameGate(context: Context, { host, scheme }: RouteQuestion): Promise<Gate> {
  const { settings: { hostPorts }, names } = context;
  const port = scheme === 'https' ? hostPorts.httpsPort : hostPorts.httpPort;
  if (port === 0) return stopped('NAME_AND_PORT', found('SCHEME_NOT_SERVED', { scheme }), fix('OPEN_HOST_PORT', { scheme }));
  const answer = await lookUp(context, host);
  if (answer.kind === 'limited') return unknown('NAME_AND_PORT', found('LOOK_UPS_LIMITED'));
  if (answer.kind === 'unknown') return unknown('NAME_AND_PORT', found('NAME_NOT_ANSWERED', { host, problem: answer.problem }));
  const ownName = await context.serverName();
  const point = fix('POINT_NAME', { host });
  if (answer.kind === 'none') return stopped('NAME_AND_PORT', found('NAME_WITHOUT_ADDRESS', { host }), point);
  const leads = answer.addresses.slice(0, mostAddresses).map((address) => canonicalAddress(address) ?? address);
  const server = ownName === '' ? undefined : await lookUp(context, ownName);
  const own = new Set(
    [...server?.kind === 'found' ? server.addresses : [], ...names.machineAddresses()].map((address) => canonicalAddress(address) ?? address),
  );
  const [here] = leads.filter((address) => own.has(address));
  if (here !== undefined) return portGate(here, port);
  // A proxy or a router may pass the requests on, so that this need not be wrong.
  if (context.caller.kind !== 'admin' && leads.some(isInner)) return unknown('NAME_AND_PORT', found('NAME_LEADS_INSIDE', { host }), point);
  const addresses = leads.join(', ');
  const finding: Finding = server === undefined ? found('NAME_LEADS_TO', { host, addresses }) : found('NAME_LEADS_ELSEWHERE', { host, addresses });
  return unknown('NAME_AND_PORT', finding, server === undefined ? fix('SET_SERVER_URL') : point);
}

function lookUp(context: Context, name: string): Promise<LookUp> {
  return context.names.addressesOf(shareOf(context.caller), name, context.now());
}

function isInner(address: string): boolean {
  return inner.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** @param address one of the server's own */
async function portGate(address: string, port: number): Promise<Gate> {
  const problem = await connectionProblem(address, port);
  if (problem === '') return passed('NAME_AND_PORT', found('NAME_LEADS_HERE', { address }), found('HOST_PORT_REACHED', { port }));
  const gate = unknown('NAME_AND_PORT', found('NAME_LEADS_HERE', { address }), fix('FORWARD_PORT', { port }));
  // Behind a router, a server often cannot connect to its own public address, while visitors can.
  return { ...gate, findings: [...gate.findings, found('HOST_PORT_NOT_REACHED', { port, problem })] };
}

/** Connects, and closes the connection at once. @returns why it failed; "" = it did not */
function connectionProblem(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (problem: string): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.setTimeout(CONNECT_MS, () => end('ETIMEDOUT'));
    socket.once('connect', () => end(''));
    socket.once('error', (error) => end('code' in error && typeof error.code === 'string' ? error.code : error.message));
  });
}
