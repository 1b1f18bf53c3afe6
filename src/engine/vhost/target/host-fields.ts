import { octets } from '../../../rules/octets.ts';
import type { WantedHost } from '../../face.ts';
import { Field } from '../../http/field.ts';

/** What a host sets in the heads of requests (contract 4.7: header, hostchange), read once and not for each of them. */
export interface HostFields {
  /** The Host field that targets see; undefined = unchanged. */
  readonly host: Field | undefined;
  readonly fields: readonly Field[];
  /** The names of the fields, in the spelling of `Field.variable`: they replace those of the request. */
  readonly names: ReadonlySet<string>;
}

/** Fields that a host's own headers can't set: they would change where the body ends, or how the connection continues. */
const reserved = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'proxy-connection',
  'expect',
]);

/** Parses them. Invalid lines are skipped: they were stored before the current rules. */
export function hostFields({ headers, hostChange }: Pick<WantedHost, 'headers' | 'hostChange'>): HostFields {
  const host = hostChange === '' ? undefined : Field.of('Host', octets(hostChange));
  const fields = headers.flatMap((line) => {
    const colon = line.indexOf(':');
    const field = Field.received(line.slice(0, Math.max(colon, 0)).trim(), octets(line.slice(colon + 1).trim()));
    return !field || reserved.has(field.variable) || (host && field.lower === 'host') ? [] : [field];
  });
  return { host, fields, names: new Set(fields.map(({ variable }) => variable)) };
}
