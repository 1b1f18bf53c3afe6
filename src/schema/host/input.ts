import { hostLocation } from '../../rules/host-location.ts';
import { resolvedPath } from '../../rules/request-path.ts';
import { builder, type InputFields } from '../builder.ts';
import type { Context } from '../context.ts';
import { invalidInput } from '../errors.ts';
import { targetsOf, textOf } from '../input.ts';
import type { Problems } from '../problems.ts';
import { pemOrPath } from './certificate-text.ts';
import { HostMode, HostScheme } from './enums.ts';
import { headersOf, hostChangeOf } from './headers.ts';
import { idOf } from '../ids.ts';
import { givenOr, neverNull } from '../empty.ts';

/** What both inputs of a host have. */
const hostFields = (t: InputFields) => ({
  remark: t.string({ description: 'A note, at most 255 characters.' }),
  mode: t.field({ type: HostMode, description: 'Where its name comes from; a new host is CUSTOM unless this says otherwise.' }),
  host: t.string({ description: 'The domain or address, or `*.` and a domain for all names below it (CUSTOM).' }),
  platformDomainId: t.id({ description: 'The platform domain (PLATFORM).' }),
  platformPrefix: t.string({ description: 'What stands before the platform domain: one label of letters, digits and hyphens (PLATFORM).' }),
  scheme: t.field({ type: HostScheme, description: 'The protocols it is for; a new host is for both unless this says otherwise.' }),
  location: t.string({ description: 'The beginning of the URL paths it is for, in whole segments; null = every path.' }),
  targets: t.stringList({ description: 'Where requests go, one after the other: host:port, [IPv6]:port, or a port alone, which means 127.0.0.1.' }),
  localProxy: t.boolean({ description: 'The server dials the targets itself; stays off unless the server allows it.' }),
  headers: t.stringList({ description: 'Headers to set on requests, each as `Name: value`; null = none.' }),
  hostChange: t.string({ description: 'The Host header that the target is to see; null = as the visitor sent it.' }),
  certificate: t.string({ description: 'The certificate as PEM text, or, for administrators, the path of a file on the server; null = none. Ignored for PLATFORM.' }),
  privateKey: t.string({ description: 'The private key that goes with it, given in the same way; null = none.' }),
  autoHttps: t.boolean({ description: 'Redirect HTTP requests to HTTPS; off while the scheme is HTTP.' }),
  acme: t.boolean({
    description: 'While it has no certificate of its own it gets one by ACME, where the server does that; for names only (CUSTOM). Off while the scheme is HTTP. '
      + 'Until there is one TLS handshakes fail; without this TLS is passed through.',
  }),
});

/** What a new host is to be. */
export const CreateHostInput = builder.inputType('CreateHostInput', {
  description: 'What a new host is to be. A field that is absent or null takes its default.',
  fields: (t) => ({
    clientId: t.id({ required: true, description: 'The client that it leads to.' }),
    ...hostFields(t),
  }),
});

/** What is to change of a host. */
export const UpdateHostInput = builder.inputType('UpdateHostInput', {
  description: 'What is to change of a host. A field that is absent keeps its value; null clears it, and is refused where there is nothing to clear.',
  fields: (t) => ({
    clientId: t.id({ description: 'The client that it leads to.' }),
    ...hostFields(t),
  }),
});

/** What an input sets of a host, as a row has it; undefined = not given. */
export type HostValues = Partial<ReturnType<typeof hostValues>>;

/** @throws {AditError} INVALID_INPUT for null where there is nothing to clear, and an id that is none */
export function hostValues(input: typeof UpdateHostInput.$inferInput) {
  return {
    clientId: idOf('input.clientId', neverNull('input.clientId', input.clientId)),
    remark: givenOr(input.remark, ''),
    mode: neverNull('input.mode', input.mode),
    host: neverNull('input.host', input.host),
    platformDomainId: neverNull('input.platformDomainId', input.platformDomainId),
    platformPrefix: neverNull('input.platformPrefix', input.platformPrefix),
    scheme: neverNull('input.scheme', input.scheme),
    location: givenOr(input.location, ''),
    targets: givenOr(input.targets, []),
    localProxy: neverNull('input.localProxy', input.localProxy),
    headers: givenOr(input.headers, []),
    hostChange: givenOr(input.hostChange, ''),
    certificate: givenOr(input.certificate, ''),
    privateKey: givenOr(input.privateKey, ''),
    autoHttps: neverNull('input.autoHttps', input.autoHttps),
    acme: neverNull('input.acme', input.acme),
  };
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
