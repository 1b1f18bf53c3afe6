import type { Caller } from '../../rules/caller.ts';
import { builder } from '../builder.ts';
import { ipListOf, limitOf, secretOf, textOf } from '../input.ts';
import { idOf } from '../ids.ts';
import type { Problems } from '../problems.ts';

/** What can be set of a client. One type for both mutations: what is absent keeps its value or takes the default. */
export const ClientInput = builder.inputType('ClientInput', {
  description: 'What can be set of a client. A field that is absent or null keeps its value, on a new client it takes the default: blank, off, unlimited, empty.',
  fields: (t) => ({
    verifyKey: t.string({ description: 'The key the agent proves, unique; blank = keep, on a new client: generated.' }),
    remark: t.string({ description: 'A note, at most 255 characters.' }),
    basicUser: t.string({ description: 'The user name that proxies and hosts ask visitors for.' }),
    basicPassword: t.string({ description: 'The password with it; blank = keep.' }),
    compress: t.boolean({ description: 'Compress traffic between server and agent.' }),
    crypt: t.boolean({ description: 'Encrypt traffic between server and agent.' }),
    configAllowed: t.boolean({ description: 'Let the agent bring tunnels of its own configuration file.' }),
    rateLimit: t.field({ type: 'KibPerSecond', description: 'The rate of all connections together; 0 = unlimited.' }),
    flowLimit: t.field({ type: 'Mebibytes', description: 'The traffic in and out together; 0 = unlimited.' }),
    maxConnections: t.int({ description: 'The most connections of visitors at a time; 0 = unlimited, negative counts as 0.' }),
    maxTunnels: t.int({ description: 'The most tunnels and hosts; 0 = unlimited, negative counts as 0.' }),
    webUsername: t.string({ description: "The user name of the client's own web login; blank = keep. Goes with `webPassword`." }),
    webPassword: t.string({ description: 'The password of the web login; blank = keep.' }),
    clearWebLogin: t.boolean({ description: 'Remove the web login first.' }),
    blackIpList: t.stringList({ description: 'Addresses and networks (192.0.2.0/24) of visitors to turn away; of equal lines the last stays. Lines that are neither are kept and hold nobody.' }),
    ipWhite: t.boolean({ description: 'Let in only visitors of `ipWhiteList`.' }),
    ipWhitePassword: t.string({ description: 'The password by which visitors let themselves in for two hours who are not on `ipWhiteList`; blank = none.' }),
    ipWhiteList: t.stringList({ description: 'Addresses and networks of visitors to let in; of equal lines the last stays. Lines that are neither are kept and hold nobody.' }),
    expiresAt: t.field({ type: 'DateTime', description: "The client's own expiry, not later than its owner's; null = never, absent = keep." }),
    ownerId: t.id({ description: 'The user it belongs to; null = nobody, absent = keep.' }),
  }),
});

/** A client's input as it was given, with the number of the record that it names. */
export type ClientValues = Omit<typeof ClientInput.$inferInput, 'ownerId'> & { readonly ownerId?: number | null };

/** @throws {AditError} INVALID_INPUT for an id that is none */
export function clientValues(input: typeof ClientInput.$inferInput): ClientValues {
  const { ownerId, ...values } = input;
  return { ...values, ...(ownerId !== undefined && { ownerId: idOf('input.ownerId', ownerId) }) };
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
    basicPassword: () => secretOf('basicPassword', input.basicPassword),
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
