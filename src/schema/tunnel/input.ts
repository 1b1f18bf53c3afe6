import { canonicalBindAddress } from '../../rules/bind-address.ts';
import { builder } from '../builder.ts';
import type { SchemaSettings } from '../services.ts';
import { invalidInput } from '../errors.ts';
import { pathLength, secretOf, targetsOf, textOf } from '../input.ts';
import type { Problems } from '../problems.ts';
import { ProxyProtocol, TunnelMode } from './enums.ts';
import { idOf } from '../ids.ts';

/** What can be set of a tunnel. One type for both mutations: what is absent keeps its value or takes the default. */
export const TunnelInput = builder.inputType('TunnelInput', {
  description: 'What can be set of a tunnel. A field that is absent or null keeps its value, on a new tunnel it takes the default: blank or off.',
  fields: (t) => ({
    clientId: t.id({ description: 'The client it leads through; a new tunnel needs one, 0 = keep.' }),
    mode: t.field({ type: TunnelMode, description: 'What it does with what arrives; a new tunnel needs one that this server serves.' }),
    remark: t.string({ description: 'A note, at most 255 characters.' }),
    port: t.field({ type: 'Port', description: 'The port to listen on; 0 = a free one is assigned. secret and p2p have none.' }),
    serverIp: t.string({ description: 'The address to listen on; blank = all.' }),
    targets: t.stringList({ description: 'Where connections go, in turn: host:port, [IPv6]:port, or a port alone, which means 127.0.0.1.' }),
    localProxy: t.boolean({ description: 'The server dials the targets itself; stays off unless the server allows it.' }),
    password: t.string({ description: 'The key that visitors prove, unique among secret and p2p tunnels; blank = keep, of a p2p tunnel that has none: generated.' }),
    localPath: t.string({ description: "What to serve of the agent's machine (file)." }),
    stripPrefix: t.string({ description: 'What to take off the beginning of the URL path (file).' }),
    proxyProtocol: t.field({ type: ProxyProtocol, description: "The header that tells the target the visitor's address; tcp and secret only." }),
  }),
});

/** A tunnel's input as it was given, with the number of the record that it names. */
export type TunnelValues = Omit<typeof TunnelInput.$inferInput, 'clientId'> & { readonly clientId?: number | null };

/** @throws {AditError} INVALID_INPUT for an id that is none */
export function tunnelValues(input: typeof TunnelInput.$inferInput): TunnelValues {
  const { clientId, ...values } = input;
  return { ...values, ...(clientId !== undefined && { clientId: idOf('input.clientId', clientId) }) };
}

/**
 * The columns that an input sets and that need no other row to decide on; undefined = not given. Client, mode and port are
 * not among them.
 * @param problems where what is wrong with them is noted
 */
export function tunnelColumns(problems: Problems, input: TunnelValues, settings: SchemaSettings) {
  return problems.columns({
    remark: () => textOf('remark', input.remark),
    serverIp: () => bindAddressOf(input.serverIp),
    target: () => targetsOf('targets', input.targets),
    // Refused silently, as the family does (contract D15); the engine checks again when it dials.
    localProxy: () => settings.allowLocalProxy ? input.localProxy ?? undefined : false,
    password: () => secretOf('password', input.password),
    localPath: () => textOf('localPath', input.localPath, pathLength),
    stripPrefix: () => textOf('stripPrefix', input.stripPrefix),
    proxyProtocol: () => input.proxyProtocol ?? undefined,
  });
}

function bindAddressOf(value: string | null | undefined): string | undefined {
  if (value === null || value === undefined) return undefined;
  const address = canonicalBindAddress(value);
  if (address === undefined) throw invalidInput('serverIp', 'not an IP address');
  return address;
}
