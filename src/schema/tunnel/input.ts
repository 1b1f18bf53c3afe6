import { canonicalBindAddress } from '../../rules/bind-address.ts';
import { accountFault, joinAccounts, MAX_ACCOUNTS, splitAccounts } from '../../rules/proxy-accounts.ts';
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

/** An account of a proxy in the input. */
const ProxyAccountInput = builder.inputType('ProxyAccountInput', {
  description: 'A user name and password with which visitors of a proxy log in.',
  fields: (t) => ({
    user: t.string({ required: true, description: 'The user name: at most 255 bytes, without a colon.' }),
    password: t.string({ description: 'The password: at most 255 bytes; null = the account keeps its password.' }),
  }),
});

/** The fields that both inputs of a tunnel share. */
const tunnelFields = (t: InputFields) => ({
  remark: t.string({ description: 'A note: at most 255 characters.' }),
  port: t.field({ type: 'Port', description: "The server's port to listen on; null = a free port is assigned. SECRET and P2P tunnels have no port." }),
  serverIp: t.string({ description: "The server's address to listen on; null = all addresses." }),
  targets: t.stringList({
    description: 'The targets, used in round-robin order: host:port, [IPv6]:port, or just a port, which means 127.0.0.1. TCP, UDP, SECRET and P2P only.',
  }),
  localProxy: t.boolean({ description: "The server dials the targets itself. Stays false unless the server's settings allow it." }),
  localPath: t.string({ description: "The directory on the agent's machine to serve; null = none. FILE only." }),
  stripPrefix: t.string({ description: 'The prefix to remove from the URL path; null = none. FILE only.' }),
  proxyProtocol: t.field({
    type: ProxyProtocol,
    description: "The PROXY protocol header that carries the visitor's address to the target. TCP and SECRET only.",
  }),
  accounts: t.field({
    type: [ProxyAccountInput],
    description:
      "The accounts that visitors of the proxy log in with, instead of the client's user name and password; null = none. HTTP_PROXY and SOCKS5 only.",
  }),
});

/** The input for a new tunnel. */
export const CreateTunnelInput = builder.inputType('CreateTunnelInput', {
  description: 'The values of a new tunnel. Fields that are absent or null get their default.',
  fields: (t) => ({
    clientId: t.id({ required: true, description: 'The client that the tunnel belongs to.' }),
    mode: t.field({ type: TunnelMode, required: true, description: 'What the tunnel forwards or serves.' }),
    ...tunnelFields(t),
    password: t.string({
      description: 'The password of visitor programs. Must be unique among SECRET and P2P tunnels. Required for SECRET; generated for P2P if absent.',
    }),
  }),
});

/** The input for a change of a tunnel. */
export const UpdateTunnelInput = builder.inputType('UpdateTunnelInput', {
  description: 'The fields of a tunnel to change. Absent fields keep their value. Null clears a field; fields that cannot be cleared refuse null.',
  fields: (t) => ({
    clientId: t.id({ description: 'The client that the tunnel belongs to.' }),
    mode: t.field({ type: TunnelMode, description: 'What the tunnel forwards or serves.' }),
    ...tunnelFields(t),
    password: t.string({
      description:
        'The password of visitor programs. Must be unique among SECRET and P2P tunnels. Null removes it: a P2P tunnel then gets a generated one, and SECRET tunnels refuse null.',
    }),
  }),
});

/** The input of a tunnel with the values of a row; undefined = not given. */
export type TunnelValues = Partial<ReturnType<typeof tunnelValues>>;

/** @param problems collects errors: null for a field that can't be cleared, an invalid id, and an empty text or a limit below 1 where null means "none" */
export function tunnelValues(problems: Problems, input: typeof UpdateTunnelInput.$inferInput) {
  return problems.columns(
    {
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
      accounts: () => givenOr(input.accounts, []),
    } satisfies Record<InputFieldsOf<typeof columnsOfTunnel> | keyof typeof UpdateTunnelInput.$inferInput, unknown>,
  );
}

/**
 * The columns of an input that can be checked without other rows; undefined = not given. They don't include the client, the mode,
 * the port and the accounts.
 * @param problems collects errors
 */
export function tunnelColumns(problems: Problems, input: TunnelValues, settings: SchemaSettings) {
  return problems.columns(
    {
      remark: () => textOf('remark', input.remark),
      serverIp: () => bindAddressOf(input.serverIp),
      target: () => targetsOf('targets', input.targets),
      // Refused silently, as in NPS (contract D15); the engine checks again when it dials.
      localProxy: () => settings.allowLocalProxy ? input.localProxy ?? undefined : false,
      password: () => textOf('password', input.password),
      localPath: () => textOf('localPath', input.localPath, pathLength),
      stripPrefix: () => textOf('stripPrefix', input.stripPrefix),
      proxyProtocol: () => input.proxyProtocol ?? undefined,
    } satisfies Record<Exclude<InputColumns<typeof columnsOfTunnel>, 'clientId' | 'mode' | 'port' | 'accounts'>, unknown>,
  );
}

/** Maximum length of all accounts of a proxy in their stored form, in characters. */
const accountsLength = 64 * 1024;

/**
 * The accounts of a proxy in their stored form; undefined = not given.
 * @param before the stored accounts, from which an account without a password keeps it
 * @throws {AditError} INVALID_INPUT
 */
export function accountsOf(given: TunnelValues['accounts'], before = ''): string | undefined {
  if (given === undefined) return undefined;
  if (given.length > MAX_ACCOUNTS) throw invalidInput('accounts', `more than ${MAX_ACCOUNTS} accounts`, { most: MAX_ACCOUNTS });
  const present = new Map(splitAccounts(before).map(({ user, password }) => [user, password]));
  const seen = new Set<string>();
  const accounts = given.map(({ user, password }, index) => {
    const account = { user, password: password ?? present.get(user) };
    if (account.password === undefined) throw invalidInput(`accounts.${index}.password`, 'missing: a new account needs one');
    const fault = seen.has(user) ? 'there is another account with this name' : accountFault({ user, password: account.password });
    if (fault !== '') throw invalidInput(`accounts.${index}`, fault);
    seen.add(user);
    return { user, password: account.password };
  });
  return textOf('accounts', joinAccounts(accounts), accountsLength);
}

function bindAddressOf(value: string | null | undefined): string | undefined {
  if (value === null || value === undefined) return undefined;
  const address = canonicalBindAddress(value);
  if (address === undefined) throw invalidInput('serverIp', 'not an IP address');
  return address;
}
