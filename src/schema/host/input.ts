import { hostLocation } from '../../rules/host-location.ts';
import { resolvedPath } from '../../rules/request-path.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { invalidInput } from '../errors.ts';
import { targetsOf, textOf } from '../input.ts';
import type { Problems } from '../problems.ts';
import { pemOrPath } from './certificate-text.ts';
import { HostMode, HostScheme } from './enums.ts';
import { headersOf, hostChangeOf } from './headers.ts';
import { idOf } from '../ids.ts';

/** What can be set of a host. One type for both mutations: what is absent keeps its value or takes the default. */
export const HostInput = builder.inputType('HostInput', {
  description: 'What can be set of a host. A field that is absent or null keeps its value, on a new host it takes the default: blank or off.',
  fields: (t) => ({
    clientId: t.id({ description: 'The client it leads to; a new host needs one, 0 = keep.' }),
    remark: t.string({ description: 'A note, at most 255 characters.' }),
    mode: t.field({ type: HostMode, description: 'Where its name comes from; custom unless told otherwise.' }),
    host: t.string({ description: 'The domain or address, or `*.` and a domain for all names below it (custom mode).' }),
    platformDomainId: t.id({ description: 'The id of the platform domain (platform mode).' }),
    platformPrefix: t.string({ description: 'What stands before the platform domain: one label of letters, digits and hyphens (platform mode).' }),
    scheme: t.field({ type: HostScheme, description: 'The protocol it is for; both unless told otherwise.' }),
    location: t.string({ description: 'The beginning of the URL paths it is for, whole segments; blank = every path.' }),
    targets: t.stringList({ description: 'Where requests go, in turn: host:port, [IPv6]:port, or a port alone, which means 127.0.0.1.' }),
    localProxy: t.boolean({ description: 'The server dials the targets itself; stays off unless the server allows it.' }),
    headers: t.stringList({ description: 'Headers to set on requests, each as `Name: value`.' }),
    hostChange: t.string({ description: 'The Host header that the target is to see; blank = as it came.' }),
    certificate: t.string({ description: 'The certificate as PEM text, or, for administrators, the path of a file on the server; blank = none. Ignored in platform mode.' }),
    privateKey: t.string({ description: 'The private key with it, in the same way.' }),
    autoHttps: t.boolean({ description: 'HTTP requests are sent to HTTPS; off while the scheme is http.' }),
    acme: t.boolean({
      description: 'While it has no certificate of its own it gets one by ACME, where the server does that; for names only, in custom mode. Off while the scheme is http. '
        + 'Until there is one TLS handshakes fail; without this TLS is passed through.',
    }),
  }),
});

/** A host's input as it was given, with the number of the record that it names. */
export type HostValues = Omit<typeof HostInput.$inferInput, 'clientId'> & { readonly clientId?: number | null };

/** @throws {AditError} INVALID_INPUT for an id that is none */
export function hostValues(input: typeof HostInput.$inferInput): HostValues {
  const { clientId, ...values } = input;
  return { ...values, ...(clientId !== undefined && { clientId: idOf('input.clientId', clientId) }) };
}

/**
 * The columns that an input sets and that need no other row to decide on; undefined = not given. Client, name and certificate
 * are not among them.
 * @param problems where what is wrong with them is noted
 */
export function hostColumns(problems: Problems, context: Context, input: HostValues) {
  return problems.columns({
    remark: () => textOf('remark', input.remark),
    scheme: () => input.scheme ?? undefined,
    location: () => locationOf(input.location),
    target: () => targetsOf('targets', input.targets),
    // Refused silently, as the family does (contract D15); it is checked again at the dial.
    localProxy: () => context.settings.allowLocalProxy ? input.localProxy ?? undefined : false,
    headerChange: () => headersOf('headers', input.headers),
    hostChange: () => hostChangeOf('hostChange', input.hostChange),
    autoHttps: () => input.autoHttps ?? undefined,
    acme: () => input.acme ?? undefined,
  });
}

/** The certificate of a custom host as far as it is given. @param problems where what is wrong with it is noted */
export function certificateColumns(problems: Problems, context: Context, input: HostValues) {
  return problems.columns({
    certFilePath: () => pemOrPath(context, 'certificate', input.certificate),
    keyFilePath: () => pemOrPath(context, 'privateKey', input.privateKey),
  });
}

function locationOf(value: string | null | undefined): string | undefined {
  const text = textOf('location', value);
  const location = text === undefined ? undefined : hostLocation(text);
  if (text !== undefined && location === undefined) throw invalidInput('location', 'holds a blank, a ? or a #');
  if (location !== undefined && resolvedPath(location) === undefined) throw invalidInput('location', 'holds dot segments, or a NUL, that no request can have');
  return location;
}
