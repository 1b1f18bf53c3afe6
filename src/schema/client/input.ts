import type { Caller } from '../../rules/caller.ts';
import { builder, type InputFields } from '../builder.ts';
import { ipListOf, limitOf, secretOf, textOf } from '../input.ts';
import { idOf } from '../ids.ts';
import type { Problems } from '../problems.ts';
import { givenOr, limitOrNone, neverNull } from '../empty.ts';

/** What both inputs of a client have. */
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
  blackIpList: t.stringList({ description: 'Addresses and networks (192.0.2.0/24) of visitors to turn away. Of equal lines the last stays; lines that are neither are kept and match nobody.' }),
  ipWhite: t.boolean({ description: 'Let in only visitors of `ipWhiteList`.' }),
  ipWhitePassword: t.string({ description: 'The password by which visitors who are not on `ipWhiteList` let themselves in for two hours; null = none.' }),
  ipWhiteList: t.stringList({ description: 'Addresses and networks of visitors to let in. Of equal lines the last stays; lines that are neither are kept and match nobody.' }),
  expiresAt: t.field({ type: 'DateTime', description: "The client's own expiry, not later than its owner's; null = never." }),
  ownerId: t.id({ description: 'The user it belongs to; null = nobody.' }),
});

/** What a new client is to be. */
export const CreateClientInput = builder.inputType('CreateClientInput', {
  description: 'What a new client is to be. A field that is absent or null takes its default.',
  fields: (t) => ({
    ...clientFields(t),
  }),
});

/** What is to change of a client. */
export const UpdateClientInput = builder.inputType('UpdateClientInput', {
  description: 'What is to change of a client. A field that is absent keeps its value; null clears it, and is refused where there is nothing to clear.',
  fields: (t) => ({
    ...clientFields(t),
  }),
});

/** What an input sets of a client, as a row has it; undefined = not given. */
export type ClientValues = Partial<ReturnType<typeof clientValues>>;

/** @throws {AditError} INVALID_INPUT for null where there is nothing to clear, a limit below 1, an id that is none */
export function clientValues(input: typeof UpdateClientInput.$inferInput) {
  const { webUsername, webPassword } = input;
  return {
    verifyKey: neverNull('input.verifyKey', input.verifyKey),
    remark: givenOr(input.remark, ''),
    basicUser: givenOr(input.basicUser, ''),
    basicPassword: givenOr(input.basicPassword, ''),
    compress: neverNull('input.compress', input.compress),
    crypt: neverNull('input.crypt', input.crypt),
    configAllowed: neverNull('input.configAllowed', input.configAllowed),
    rateLimit: limitOrNone('input.rateLimit', input.rateLimit),
    flowLimit: limitOrNone('input.flowLimit', input.flowLimit),
    maxConnections: limitOrNone('input.maxConnections', input.maxConnections),
    maxTunnels: limitOrNone('input.maxTunnels', input.maxTunnels),
    webUsername, webPassword,
    clearWebLogin: webUsername === null || webPassword === null,
    blackIpList: givenOr(input.blackIpList, []),
    ipWhite: neverNull('input.ipWhite', input.ipWhite),
    ipWhitePassword: givenOr(input.ipWhitePassword, ''),
    ipWhiteList: givenOr(input.ipWhiteList, []),
    expiresAt: input.expiresAt,
    ownerId: idOf('input.ownerId', input.ownerId),
  };
}

/**
 * What an ordinary user, or the legacy client login, may set of a client (contract 2.2).
 * Everything else that they send is ignored.
 */
export function ownSettings(input: ClientValues): ClientValues {
  const { remark, basicUser, basicPassword, compress, crypt, blackIpList, ipWhite, ipWhitePassword, ipWhiteList } = input;
  return { remark, basicUser, basicPassword, compress, crypt, blackIpList, ipWhite, ipWhitePassword, ipWhiteList };
}

/**
 * The columns that an input sets and that need no other row to decide on; undefined = not given.
 * @param problems where what is wrong with them is noted
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
  });
}
