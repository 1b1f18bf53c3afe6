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
  verifyKey: t.string({ description: 'The key that the agent proves, unique. Absent on a new client: one is generated.' }),
  remark: t.string({ description: 'A note, at most 255 characters.' }),
  basicUser: t.string({ description: 'The user name that proxies and hosts ask visitors for; null = they ask for none.' }),
  basicPassword: t.string({ description: 'The password that goes with `basicUser`; null = none.' }),
  compress: t.boolean({ description: 'Compress traffic between server and agent.' }),
  crypt: t.boolean({ description: 'Encrypt traffic between server and agent.' }),
  configAllowed: t.boolean({ description: 'Let the agent bring tunnels and hosts of its own configuration file.' }),
  rateLimit: t.field({ type: 'KibPerSecond', description: 'The most that all connections together may move, at least 1; null = unlimited.' }),
  flowLimit: t.field({ type: 'Mebibytes', description: 'The most traffic, in and out together, at least 1; null = unlimited.' }),
  maxConnections: t.int({ description: 'The most connections of visitors at a time, at least 1; null = unlimited.' }),
  maxTunnels: t.int({ description: 'The most tunnels and hosts together, at least 1; null = unlimited.' }),
  webUsername: t.string({ description: "The user name of the client's own web login, which goes with `webPassword`; null in either removes the login." }),
  webPassword: t.string({ description: 'The password of the web login; null removes the login.' }),
  blackIpList: t.stringList({ description: 'Addresses and networks (192.0.2.0/24) of visitors to refuse. Of equal lines the last stays; lines that are neither are kept and match nothing.' }),
  ipWhite: t.boolean({ description: 'Allow only visitors of `ipWhiteList`.' }),
  ipWhitePassword: t.string({ description: 'The password that allows visitors who are not on `ipWhiteList` for two hours; null = none.' }),
  ipWhiteList: t.stringList({ description: 'Addresses and networks of visitors to allow. Of equal lines the last stays; lines that are neither are kept and match nothing.' }),
  expiresAt: t.field({ type: 'DateTime', description: "The client's own expiry, not later than its owner's; null = never." }),
  ownerId: t.id({ description: 'The user it belongs to; null = nobody.' }),
});

/** The input for a new client. */
export const CreateClientInput = builder.inputType('CreateClientInput', {
  description: 'What a new client is to be. A field that is absent or null takes its default.',
  fields: (t) => ({
    ...clientFields(t),
  }),
});

/** The input for a change of a client. */
export const UpdateClientInput = builder.inputType('UpdateClientInput', {
  description: 'What is to change of a client. A field that is absent keeps its value; null clears it, and is refused where there is nothing to clear.',
  fields: (t) => ({
    ...clientFields(t),
  }),
});

/** The input of a client with the values of a row; undefined = not given. */
export type ClientValues = Partial<ReturnType<typeof clientValues>>;

/** @param problems collects errors: null for a field that can't be cleared, an empty text or a limit below 1 where null means none, an invalid id */
export function clientValues(problems: Problems, input: typeof UpdateClientInput.$inferInput) {
  return problems.columns({
    verifyKey: () => notEmpty('verifyKey', neverNull('verifyKey', input.verifyKey), 'leave it out instead'),
    remark: () => givenOr(input.remark, ''),
    basicUser: () => textOrNone('basicUser', input.basicUser),
    basicPassword: () => textOrNone('basicPassword', input.basicPassword),
    compress: () => neverNull('compress', input.compress),
    crypt: () => neverNull('crypt', input.crypt),
    configAllowed: () => neverNull('configAllowed', input.configAllowed),
    rateLimit: () => limitOrNone('rateLimit', input.rateLimit),
    flowLimit: () => limitOrNone('flowLimit', input.flowLimit),
    maxConnections: () => limitOrNone('maxConnections', input.maxConnections),
    maxTunnels: () => limitOrNone('maxTunnels', input.maxTunnels),
    webUsername: () => notEmpty('webUsername', input.webUsername, 'null removes the web login'),
    webPassword: () => notEmpty('webPassword', input.webPassword, 'null removes the web login'),
    clearWebLogin: () => input.webUsername === null || input.webPassword === null,
    blackIpList: () => givenOr(input.blackIpList, []),
    ipWhite: () => neverNull('ipWhite', input.ipWhite),
    ipWhitePassword: () => textOrNone('ipWhitePassword', input.ipWhitePassword),
    ipWhiteList: () => givenOr(input.ipWhiteList, []),
    expiresAt: () => input.expiresAt,
    ownerId: () => idOf('ownerId', input.ownerId),
  } satisfies Record<InputFieldsOf<typeof columnsOfClient> | keyof typeof UpdateClientInput.$inferInput | 'clearWebLogin', unknown>);
}

/**
 * The columns of an input that can be checked without other rows; undefined = not given.
 * @param problems collects errors
 */
export function clientColumns(problems: Problems, caller: Caller, input: ClientValues) {
  return problems.columns({
    vkey: () => secretOf('verifyKey', input.verifyKey),
    remark: () => textOf('remark', input.remark),
    basicUser: () => textOf('basicUser', input.basicUser),
    basicPassword: () => textOf('basicPassword', input.basicPassword),
    compress: () => input.compress ?? undefined,
    crypt: () => input.crypt ?? undefined,
    configAllowed: () => input.configAllowed ?? undefined,
    rateLimit: () => limitOf(input.rateLimit),
    flowLimit: () => limitOf(input.flowLimit),
    maxConnections: () => limitOf(input.maxConnections),
    maxTunnels: () => limitOf(input.maxTunnels),
    blackIpList: () => ipListOf(caller, 'blackIpList', input.blackIpList),
    ipWhite: () => input.ipWhite ?? undefined,
    ipWhitePassword: () => textOf('ipWhitePassword', input.ipWhitePassword),
    ipWhiteList: () => ipListOf(caller, 'ipWhiteList', input.ipWhiteList),
    expiresAt: () => input.expiresAt,
  } satisfies Record<Exclude<InputColumns<typeof columnsOfClient>, 'userId' | 'webUsername' | 'webPasswordHash'>, unknown>);
}
