import { hostLocation } from '../../rules/host-location.ts';
import { resolvedPath } from '../../rules/request-path.ts';
import { isHeaderLine, isHostHeader } from '../../rules/header-line.ts';
import { isPem } from '../../rules/certificate.ts';
import { builder, type InputFields } from '../builder.ts';
import type { Context } from '../context.ts';
import { invalidInput } from '../errors.ts';
import { targetsOf, textOf, textLength, pathLength } from '../values/input.ts';
import type { Problems } from '../values/problems.ts';
import { idOf } from '../values/ids.ts';
import { givenOr, neverNull, textOrNone } from '../values/empty.ts';
import { HostMode, HostScheme } from './enums.ts';
import type { InputColumns, InputFieldsOf } from '../values/columns.ts';
import type { columnsOfHost } from './columns.ts';

/** Maximum length of a certificate or key as text, in characters (contract D32). */
const pemLength = 64 * 1024;

/** The fields that both inputs of a host share. */
const hostFields = (t: InputFields) => ({
  remark: t.string({ description: 'A note: at most 255 characters.' }),
  host: t.string({ description: 'The domain or IP address, or `*.` and a domain for all names below it. CUSTOM only.' }),
  platformDomainId: t.id({ description: 'The id of the platform domain. PLATFORM only.' }),
  platformPrefix: t.string({ description: 'The prefix below the platform domain: one label of letters, digits and hyphens. PLATFORM only.' }),
  location: t.string({ description: 'The path prefix of requests to serve, in whole segments; null = all paths.' }),
  targets: t.stringList({ description: 'The targets, used in round-robin order: host:port, [IPv6]:port, or just a port, which means 127.0.0.1.' }),
  localProxy: t.boolean({ description: "The server dials the targets itself. Stays false unless the server's settings allow it." }),
  headers: t.stringList({ description: 'Headers to set on requests, each as `Name: value`; null = none.' }),
  hostChange: t.string({ description: "The Host header to send to the target; null = the visitor's." }),
  certificate: t.string({ description: 'The certificate as PEM text or, for administrators, the path of a file on the server; null = none. CUSTOM only.' }),
  privateKey: t.string({ description: 'The private key of the certificate, in the same form; null = none.' }),
  autoHttps: t.boolean({ description: 'Redirect HTTP requests to HTTPS. Stays false while the scheme is HTTP.' }),
  acme: t.boolean({
    description:
      "Obtain a certificate by ACME while the host has none of its own, if the server's settings enable ACME. CUSTOM hosts with a plain domain name only; stays false while the "
      + 'scheme is HTTP. TLS handshakes fail until the certificate is issued. If this is false and there is no certificate, TLS is passed through to the target.',
  }),
});

/** The input for a new host. */
export const CreateHostInput = builder.inputType('CreateHostInput', {
  description: 'The values of a new host. Fields that are absent or null get their default.',
  fields: (t) => ({
    clientId: t.id({ required: true, description: 'The client that the host belongs to.' }),
    mode: t.field({ type: HostMode, description: "How the host's name is formed. Default: CUSTOM." }),
    scheme: t.field({ type: HostScheme, description: 'The schemes to serve. Default: ALL.' }),
    ...hostFields(t),
  }),
});

/** The input for a change of a host. */
export const UpdateHostInput = builder.inputType('UpdateHostInput', {
  description: 'The fields of a host to change. Absent fields keep their value. Null clears a field; fields that cannot be cleared refuse null.',
  fields: (t) => ({
    clientId: t.id({ description: 'The client that the host belongs to.' }),
    mode: t.field({ type: HostMode, description: "How the host's name is formed." }),
    scheme: t.field({ type: HostScheme, description: 'The schemes to serve.' }),
    ...hostFields(t),
  }),
});

/** The input of a host with the values of a row; undefined = not given. */
export type HostValues = Partial<ReturnType<typeof hostValues>>;

/** @param problems collects errors: null for a field that can't be cleared, an invalid id, and an empty text or a limit below 1 where null means "none" */
export function hostValues(problems: Problems, input: typeof UpdateHostInput.$inferInput) {
  return problems.columns(
    {
      clientId: () => idOf('clientId', neverNull('clientId', input.clientId)),
      remark: () => givenOr(input.remark, ''),
      mode: () => neverNull('mode', input.mode),
      host: () => neverNull('host', input.host),
      platformDomainId: () => neverNull('platformDomainId', input.platformDomainId),
      platformPrefix: () => neverNull('platformPrefix', input.platformPrefix),
      scheme: () => neverNull('scheme', input.scheme),
      location: () => textOrNone('location', input.location),
      targets: () => givenOr(input.targets, []),
      localProxy: () => neverNull('localProxy', input.localProxy),
      headers: () => givenOr(input.headers, []),
      hostChange: () => textOrNone('hostChange', input.hostChange),
      certificate: () => textOrNone('certificate', input.certificate),
      privateKey: () => textOrNone('privateKey', input.privateKey),
      autoHttps: () => neverNull('autoHttps', input.autoHttps),
      acme: () => neverNull('acme', input.acme),
    } satisfies Record<InputFieldsOf<typeof columnsOfHost> | keyof typeof UpdateHostInput.$inferInput, unknown>,
  );
}

/** What the checks use of the context. */
type InputContext = Pick<Context, 'caller' | 'settings'>;
type NameColumn = 'host' | 'platformDomainId' | 'platformPrefix';
type CertificateColumn = 'certFilePath' | 'keyFilePath';

/**
 * The columns of an input that can be checked without other rows; undefined = not given. They don't include the client, the name and
 * the certificate.
 * @param problems collects errors
 */
export function hostColumns(problems: Problems, context: InputContext, input: HostValues) {
  return problems.columns(
    {
      remark: () => textOf('remark', input.remark),
      scheme: () => input.scheme ?? undefined,
      location: () => locationOf(input.location),
      target: () => targetsOf('targets', input.targets),
      // Refused silently, as in NPS (contract D15); checked again when dialing.
      localProxy: () => context.settings.allowLocalProxy ? input.localProxy ?? undefined : false,
      headerChange: () => headersOf('headers', input.headers),
      hostChange: () => hostChangeOf('hostChange', input.hostChange),
      autoHttps: () => input.autoHttps ?? undefined,
      acme: () => input.acme ?? undefined,
    } satisfies Record<Exclude<InputColumns<typeof columnsOfHost>, 'clientId' | NameColumn | CertificateColumn>, unknown>,
  );
}

/** The given parts of a custom host's certificate. @param problems collects errors */
export function certificateColumns(problems: Problems, context: InputContext, input: HostValues) {
  return problems.columns(
    {
      certFilePath: () => pemOrPath(context, 'certificate', input.certificate),
      keyFilePath: () => pemOrPath(context, 'privateKey', input.privateKey),
    } satisfies Record<CertificateColumn, unknown>,
  );
}

function locationOf(value: string | null | undefined): string | undefined {
  const text = textOf('location', value);
  const location = text === undefined ? undefined : hostLocation(text);
  if (text !== undefined && location === undefined) throw invalidInput('location', 'holds a blank, a ? or a #');
  if (location !== undefined && resolvedPath(location) === undefined) throw invalidInput('location', 'holds dot segments, or a NUL, that no request can have');
  return location;
}

/**
 * A certificate or key in its stored form: text, or the path of a file on the server. Only an administrator may give a path, since
 * others could find out which files exist (contract section 7).
 * @throws {AditError} INVALID_INPUT
 */
export function pemOrPath(context: InputContext, field: string, value: string | null | undefined): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (isPem(value)) return textOf(field, value, pemLength);
  const path = textOf(field, value.trim(), pathLength);
  if (path !== '' && context.caller.kind !== 'admin') throw invalidInput(field, 'only PEM text is accepted, no file path');
  return path;
}

/**
 * Headers in their stored form: one `Name: value` per line, without blank lines.
 * @throws {AditError} INVALID_INPUT for an invalid line, which could smuggle a request to the target
 */
export function headersOf(field: string, value: readonly string[] | null | undefined): string | undefined {
  if (value === null || value === undefined) return undefined;
  const entries = value.map((text) => text.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== ''));
  const lines = entries.flat();
  const text = textOf(field, lines.join('\n'), textLength);
  const line = lines.findIndex((one) => !isHeaderLine(one)) + 1;
  // The error doesn't contain the line, since headers carry credentials.
  if (line > 0) {
    throw invalidInput(`${field}.${entries.findIndex((own) => own.some((one) => !isHeaderLine(one)))}`, `line ${line} is not Name: value`, { line });
  }
  return text;
}

/** The Host header for the target. @throws {AditError} INVALID_INPUT if it is invalid */
export function hostChangeOf(field: string, value: string | null | undefined): string | undefined {
  const text = textOf(field, value)?.trim();
  if (text !== undefined && /[\s\p{Cc}]/u.test(text)) throw invalidInput(field, 'holds a blank or a control character');
  if (text !== undefined && !isHostHeader(text)) throw invalidInput(field, 'is not ASCII: write an international name in its form that begins with xn--');
  return text;
}
