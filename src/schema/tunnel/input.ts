import { canonicalBindAddress } from '../../rules/bind-address.ts';
import { builder, type InputFields } from '../builder.ts';
import type { SchemaSettings } from '../services.ts';
import { invalidInput } from '../errors.ts';
import { pathLength, targetsOf, textOf } from '../input.ts';
import type { Problems } from '../problems.ts';
import { ProxyProtocol, TunnelMode } from './enums.ts';
import { idOf } from '../ids.ts';
import { givenOr, neverNull } from '../empty.ts';

/** What both inputs of a tunnel have. */
const tunnelFields = (t: InputFields) => ({
  remark: t.string({ description: 'A note, at most 255 characters.' }),
  port: t.field({ type: 'Port', description: 'The port of the server to listen on; null = a free one is assigned. SECRET and P2P listen on none.' }),
  serverIp: t.string({ description: 'The address of the server to listen on; null = all.' }),
  targets: t.stringList({ description: 'Where connections go, one after the other: host:port, [IPv6]:port, or a port alone, which means 127.0.0.1. For TCP, UDP, SECRET and P2P.' }),
  localProxy: t.boolean({ description: 'The server dials the targets itself; stays off unless the server allows it.' }),
  password: t.string({ description: 'The password that visitors prove, unique among SECRET and P2P tunnels. SECRET needs one; for P2P one is generated when there is none. Null removes it.' }),
  localPath: t.string({ description: "The directory of the agent's machine to serve (FILE); null = none." }),
  stripPrefix: t.string({ description: 'What to take off the beginning of the URL path (FILE); null = nothing.' }),
  proxyProtocol: t.field({ type: ProxyProtocol, description: "The PROXY protocol header that tells the target the visitor's address; TCP and SECRET only." }),
});

/** What a new tunnel is to be. */
export const CreateTunnelInput = builder.inputType('CreateTunnelInput', {
  description: 'What a new tunnel is to be. A field that is absent or null takes its default.',
  fields: (t) => ({
    clientId: t.id({ required: true, description: 'The client that it leads through.' }),
    mode: t.field({ type: TunnelMode, required: true, description: 'What it does with what arrives.' }),
    ...tunnelFields(t),
  }),
});

/** What is to change of a tunnel. */
export const UpdateTunnelInput = builder.inputType('UpdateTunnelInput', {
  description: 'What is to change of a tunnel. A field that is absent keeps its value; null clears it, and is refused where there is nothing to clear.',
  fields: (t) => ({
    clientId: t.id({ description: 'The client that it leads through.' }),
    mode: t.field({ type: TunnelMode, description: 'What it does with what arrives.' }),
    ...tunnelFields(t),
  }),
});

/** What an input sets of a tunnel, as a row has it; undefined = not given. */
export type TunnelValues = Partial<ReturnType<typeof tunnelValues>>;

/** @throws {AditError} INVALID_INPUT for null where there is nothing to clear, and an id that is none */
export function tunnelValues(input: typeof UpdateTunnelInput.$inferInput) {
  return {
    clientId: idOf('input.clientId', neverNull('input.clientId', input.clientId)),
    mode: neverNull('input.mode', input.mode),
    remark: givenOr(input.remark, ''),
    port: givenOr(input.port, 0),
    serverIp: givenOr(input.serverIp, ''),
    targets: givenOr(input.targets, []),
    localProxy: neverNull('input.localProxy', input.localProxy),
    password: givenOr(input.password, ''),
    localPath: givenOr(input.localPath, ''),
    stripPrefix: givenOr(input.stripPrefix, ''),
    proxyProtocol: neverNull('input.proxyProtocol', input.proxyProtocol),
  };
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
    password: () => textOf('password', input.password),
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
