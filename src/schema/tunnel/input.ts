import { canonicalBindAddress } from '../../rules/bind-address.ts';
import { builder, type InputFields } from '../builder.ts';
import type { SchemaSettings } from '../services.ts';
import { invalidInput } from '../errors.ts';
import { pathLength, targetsOf, textOf } from '../values/input.ts';
import type { Problems } from '../values/problems.ts';
import { ProxyProtocol, TunnelMode } from './enums.ts';
import { idOf } from '../values/ids.ts';
import { givenOr, neverNull, textOrNone } from '../values/empty.ts';
import type { InputColumns, InputFieldsOf } from '../values/columns.ts';
import type { columnsOfTunnel } from './columns.ts';

/** The fields that both inputs of a tunnel share. */
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

/** The input for a new tunnel. */
export const CreateTunnelInput = builder.inputType('CreateTunnelInput', {
  description: 'What a new tunnel is to be. A field that is absent or null takes its default.',
  fields: (t) => ({
    clientId: t.id({ required: true, description: 'The client that it leads through.' }),
    mode: t.field({ type: TunnelMode, required: true, description: 'What it does with what arrives.' }),
    ...tunnelFields(t),
  }),
});

/** The input for a change of a tunnel. */
export const UpdateTunnelInput = builder.inputType('UpdateTunnelInput', {
  description: 'What is to change of a tunnel. A field that is absent keeps its value; null clears it, and is refused where there is nothing to clear.',
  fields: (t) => ({
    clientId: t.id({ description: 'The client that it leads through.' }),
    mode: t.field({ type: TunnelMode, description: 'What it does with what arrives.' }),
    ...tunnelFields(t),
  }),
});

/** The input of a tunnel with the values of a row; undefined = not given. */
export type TunnelValues = Partial<ReturnType<typeof tunnelValues>>;

/** @param problems collects errors: null for a field that can't be cleared, an empty text or a limit below 1 where null means none, an invalid id */
export function tunnelValues(problems: Problems, input: typeof UpdateTunnelInput.$inferInput) {
  return problems.columns({
    clientId: () => idOf('clientId', neverNull('clientId', input.clientId)),
    mode: () => neverNull('mode', input.mode),
    remark: () => givenOr(input.remark, ''),
    port: () => givenOr(input.port, 0),
    serverIp: () => textOrNone('serverIp', input.serverIp),
    targets: () => givenOr(input.targets, []),
    localProxy: () => neverNull('localProxy', input.localProxy),
    password: () => textOrNone('password', input.password),
    localPath: () => textOrNone('localPath', input.localPath),
    stripPrefix: () => textOrNone('stripPrefix', input.stripPrefix),
    proxyProtocol: () => neverNull('proxyProtocol', input.proxyProtocol),
  } satisfies Record<InputFieldsOf<typeof columnsOfTunnel> | keyof typeof UpdateTunnelInput.$inferInput, unknown>);
}

/**
 * The columns of an input that can be checked without other rows; undefined = not given. They don't include the client, the mode and
 * the port.
 * @param problems collects errors
 */
export function tunnelColumns(problems: Problems, input: TunnelValues, settings: SchemaSettings) {
  return problems.columns({
    remark: () => textOf('remark', input.remark),
    serverIp: () => bindAddressOf(input.serverIp),
    target: () => targetsOf('targets', input.targets),
    // Refused silently, as in NPS (contract D15); the engine checks again when it dials.
    localProxy: () => settings.allowLocalProxy ? input.localProxy ?? undefined : false,
    password: () => textOf('password', input.password),
    localPath: () => textOf('localPath', input.localPath, pathLength),
    stripPrefix: () => textOf('stripPrefix', input.stripPrefix),
    proxyProtocol: () => input.proxyProtocol ?? undefined,
  } satisfies Record<Exclude<InputColumns<typeof columnsOfTunnel>, 'clientId' | 'mode' | 'port'>, unknown>);
}

function bindAddressOf(value: string | null | undefined): string | undefined {
  if (value === null || value === undefined) return undefined;
  const address = canonicalBindAddress(value);
  if (address === undefined) throw invalidInput('serverIp', 'not an IP address');
  return address;
}
