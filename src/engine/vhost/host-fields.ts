import type { WantedHost } from '../face.ts';
import { Field, lowerCase, variableName } from '../http/field.ts';

/** What a host sets in the heads of requests (spec "Host": header, hostchange), read once and not for each of them. */
export interface HostFields {
  /** The Host field that targets see; undefined = as it came. */
  readonly host: Field | undefined;
  readonly fields: readonly Field[];
  /** Those of the fields, in the spelling of `variableName`: they replace what came. */
  readonly names: ReadonlySet<string>;
}

/** What a host's own headers can't set: the body would end elsewhere, or the connection go on in another way. */
const reserved = new Set([
  'content-length', 'transfer-encoding', 'connection', 'upgrade', 'te', 'trailer', 'keep-alive', 'proxy-connection', 'expect',
]);

/** Reads them. A line that is no header is left out: it was stored before the rules of today. */
export function hostFields({ headers, hostChange }: Pick<WantedHost, 'headers' | 'hostChange'>): HostFields {
  const host = hostChange === '' ? undefined : Field.ofText('Host', hostChange);
  const fields = headers.flatMap((line) => {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trim();
    if (lowerCase(name) === '' || reserved.has(variableName(name)) || (host && lowerCase(name) === 'host')) return [];
    return [Field.ofText(name, line.slice(colon + 1).trim())];
  });
  return { host, fields, names: new Set(fields.map(({ name }) => variableName(name))) };
}
