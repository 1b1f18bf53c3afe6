import type { Caller } from '../../rules/caller.ts';
import { builder, type InputFields } from '../builder.ts';
import { ipListOf, limitOf, secretOf, textOf } from '../values/input.ts';
import { idOf } from '../values/ids.ts';
import type { Problems } from '../values/problems.ts';
import { givenOr, limitOrNone, neverNull, notEmpty, textOrNone } from '../values/empty.ts';
import type { InputColumns, InputFieldsOf } from '../values/columns.ts';
import type { columnsOfClient } from './columns.ts';

/** The fields that both inputs of a client share. */
const clientFields = (t: InputFields) => ({
  remark: t.string({ description: 'A note: at most 255 characters.' }),
  basicUser: t.string({ description: "The user name that the client's proxies and hosts require of visitors; null = none." }),
  basicPassword: t.string({ description: 'The password that belongs to `basicUser`; null = none.' }),
  compress: t.boolean({ description: 'Compress the traffic between server and agent.' }),
  encrypt: t.boolean({ description: 'Encrypt the traffic between server and agent.' }),
  configAllowed: t.boolean({ description: "Accept tunnels and hosts from the agent's configuration file." }),
  rateLimit: t.field({ type: 'KibPerSecond', description: 'The maximum rate of all connections together: at least 1; null = unlimited.' }),
  flowLimit: t.field({ type: 'Mebibytes', description: 'The maximum traffic, in both directions together: at least 1; null = unlimited.' }),
  maxConnections: t.int({ description: "The maximum number of visitors' connections at a time: at least 1; null = unlimited." }),
  maxTunnels: t.int({ description: 'The maximum number of tunnels and hosts together: at least 1; null = unlimited.' }),
  blocklist: t.stringList({
    description: 'Addresses and networks (192.0.2.0/24) of visitors to refuse. Duplicates are removed. Other text is kept but matches nothing.',
  }),
  allowlistEnabled: t.boolean({ description: 'Admit only visitors whose address is on `allowlist`.' }),
  allowlistPassword: t.string({ description: 'The password that admits visitors who are not on `allowlist` for two hours; null = none.' }),
  allowlist: t.stringList({ description: 'Addresses and networks of visitors to admit. Duplicates are removed. Other text is kept but matches nothing.' }),
  expiresAt: t.field({ type: 'DateTime', description: 'When the client expires: not after its owner; null = never.' }),
  ownerId: t.id({ description: 'The user that owns the client; null = nobody.' }),
});

/** The input for a new client. */
export const CreateClientInput = builder.inputType('CreateClientInput', {
  description: 'The values of a new client. Fields that are absent or null get their default.',
  fields: (t) => ({
    verifyKey: t.string({ description: 'The key that the agent authenticates with. Must be unique. Generated if absent.' }),
    ...clientFields(t),
    webUsername: t.string({ description: "The user name of the client's web login. Requires `webPassword`; null = no login." }),
    webPassword: t.string({ description: 'The password of the web login. Requires `webUsername`; null = no login.' }),
  }),
});

/** The input for a change of a client. */
export const UpdateClientInput = builder.inputType('UpdateClientInput', {
  description: 'The fields of a client to change. Absent fields keep their value. Null clears a field; fields that cannot be cleared refuse null.',
  fields: (t) => ({
    verifyKey: t.string({ description: 'The key that the agent authenticates with. Must be unique.' }),
    ...clientFields(t),
    webUsername: t.string({
      description: "The user name of the client's web login, which also needs a password. Null in this or `webPassword` removes the login.",
    }),
    webPassword: t.string({ description: 'The password of the web login. Null in this or `webUsername` removes the login.' }),
  }),
});

/** The input of a client with the values of a row; undefined = not given. */
export type ClientValues = Partial<ReturnType<typeof clientValues>>;

/** @param problems collects errors: null for a field that can't be cleared, an invalid id, and an empty text or a limit below 1 where null means "none" */
export function clientValues(problems: Problems, input: typeof UpdateClientInput.$inferInput) {
  return problems.columns(
    {
      verifyKey: () => notEmpty('verifyKey', neverNull('verifyKey', input.verifyKey), 'leave it out instead'),
      remark: () => givenOr(input.remark, ''),
      basicUser: () => textOrNone('basicUser', input.basicUser),
      basicPassword: () => textOrNone('basicPassword', input.basicPassword),
      compress: () => neverNull('compress', input.compress),
      encrypt: () => neverNull('encrypt', input.encrypt),
      configAllowed: () => neverNull('configAllowed', input.configAllowed),
      rateLimit: () => limitOrNone('rateLimit', input.rateLimit),
      flowLimit: () => limitOrNone('flowLimit', input.flowLimit),
      maxConnections: () => limitOrNone('maxConnections', input.maxConnections),
      maxTunnels: () => limitOrNone('maxTunnels', input.maxTunnels),
      webUsername: () => notEmpty('webUsername', input.webUsername, 'null removes the web login'),
      webPassword: () => notEmpty('webPassword', input.webPassword, 'null removes the web login'),
      clearWebLogin: () => input.webUsername === null || input.webPassword === null,
      blocklist: () => givenOr(input.blocklist, []),
      allowlistEnabled: () => neverNull('allowlistEnabled', input.allowlistEnabled),
      allowlistPassword: () => textOrNone('allowlistPassword', input.allowlistPassword),
      allowlist: () => givenOr(input.allowlist, []),
      expiresAt: () => input.expiresAt,
      ownerId: () => idOf('ownerId', input.ownerId),
    } satisfies Record<InputFieldsOf<typeof columnsOfClient> | keyof typeof UpdateClientInput.$inferInput | 'clearWebLogin', unknown>,
  );
}

/**
 * The columns of an input that can be checked without other rows; undefined = not given.
 * @param problems collects errors
 */
export function clientColumns(problems: Problems, caller: Caller, input: ClientValues) {
  return problems.columns(
    {
      vkey: () => secretOf('verifyKey', input.verifyKey),
      remark: () => textOf('remark', input.remark),
      basicUser: () => textOf('basicUser', input.basicUser),
      basicPassword: () => textOf('basicPassword', input.basicPassword),
      compress: () => input.compress ?? undefined,
      crypt: () => input.encrypt ?? undefined,
      configAllowed: () => input.configAllowed ?? undefined,
      rateLimit: () => limitOf(input.rateLimit),
      flowLimit: () => limitOf(input.flowLimit),
      maxConnections: () => limitOf(input.maxConnections),
      maxTunnels: () => limitOf(input.maxTunnels),
      blackIpList: () => ipListOf(caller, 'blocklist', input.blocklist),
      ipWhite: () => input.allowlistEnabled ?? undefined,
      ipWhitePassword: () => textOf('allowlistPassword', input.allowlistPassword),
      ipWhiteList: () => ipListOf(caller, 'allowlist', input.allowlist),
      expiresAt: () => input.expiresAt,
    } satisfies Record<Exclude<InputColumns<typeof columnsOfClient>, 'userId' | 'webUsername' | 'webPasswordHash'>, unknown>,
  );
}
