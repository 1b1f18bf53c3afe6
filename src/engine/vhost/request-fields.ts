import { isIP } from 'node:net';
import { type Field, listOf, lowerCase, type RequestHead, valuesOf } from '../http/head.ts';
import type { WantedHost } from '../face.ts';

/** What the target is told of where a request came from. */
export interface Origin {
  /** The address at the other end of the connection. */
  readonly address: string;
  readonly scheme: 'http' | 'https';
  /** The Host header, or the authority of the request line, as it was sent. */
  readonly host: string;
  /** The address is a proxy's that the operator named: what it says of the visitor is believed. */
  readonly trusted: boolean;
}

/** Fields that concern one connection only (RFC 9110, 7.6.1); how long the body is, is not among them. */
const hopByHop = new Set(['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate', 'te', 'upgrade', 'http2-settings']);
/** What `Connection` can't take away: the body would end elsewhere for the target, or the request go elsewhere. */
const needed = new Set(['host', 'content-length', 'transfer-encoding', 'trailer', 'x-forwarded-for', 'x-real-ip', 'x-forwarded-proto', 'x-forwarded-host', 'authorization', 'cookie']);
/** What a host's own headers can't set, for the same reason. */
const reserved = new Set(['content-length', 'transfer-encoding', 'connection', 'upgrade', 'te', 'trailer', 'keep-alive', 'proxy-connection', 'expect']);
/** Said by this server; what a stranger says of it is not passed on. */
const told = new Set(['x-forwarded-for', 'x-real-ip', 'x-forwarded-proto', 'x-forwarded-host', 'forwarded']);

/** The fields that the target gets instead of those that came (spec "Host": header, hostchange; contract 4.7). */
export function fieldsForTarget(head: RequestHead, { headers, hostChange }: Pick<WantedHost, 'headers' | 'hostChange'>, origin: Origin): Field[] {
  const dropped = droppedBy(head.fields);
  const fields: Field[] = [{ name: 'Host', value: hostChange === '' ? origin.host : hostChange }];
  for (const field of head.fields) {
    const name = lowerCase(field.name);
    if (name === 'host' || hopByHop.has(name) || dropped.includes(name) || told.has(name)) continue;
    fields.push(field);
  }
  const upgrade = upgradeOf(head);
  if (upgrade !== undefined) fields.push({ name: 'Connection', value: 'Upgrade' }, { name: 'Upgrade', value: upgrade });
  fields.push(...forwarded(head.fields, origin));
  return own(fields, headers, hostChange);
}

/** The names that `Connection` takes away. */
function droppedBy(fields: readonly Field[]): string[] {
  return listOf(fields, 'connection').filter((name) => !needed.has(name));
}

/** Whose request it is: of those who passed it on the last one that is no trusted proxy. @param peer a trusted one */
export function visitorOf(fields: readonly Field[], peer: string, trusts: (address: string) => boolean): string {
  const passed = valuesOf(fields, 'x-forwarded-for').flatMap((value) => value.split(',')).map((item) => item.trim());
  for (const address of passed.toReversed()) {
    if (isIP(address) === 0) return peer;
    if (!trusts(address)) return address;
  }
  return passed[0] ?? peer;
}

/** The protocol that a request wants to change to; undefined = none (RFC 9110, 7.8). */
export function upgradeOf({ minor, fields }: Pick<RequestHead, 'minor' | 'fields'>): string | undefined {
  if (minor === 0 || !listOf(fields, 'connection').includes('upgrade')) return undefined;
  const protocols = valuesOf(fields, 'upgrade');
  // Cleartext HTTP/2 would take every later request past this server.
  return protocols.length === 1 && protocols[0] !== '' && !/\bh2c\b/i.test(protocols[0] ?? '') ? protocols[0] : undefined;
}

function forwarded(fields: readonly Field[], { address, scheme, host, trusted }: Origin): Field[] {
  const said = (name: string) => (trusted ? valuesOf(fields, name) : []);
  return [
    { name: 'X-Forwarded-For', value: [...said('x-forwarded-for'), address].join(', ') },
    { name: 'X-Real-IP', value: said('x-real-ip').at(0) ?? said('x-forwarded-for').at(0)?.split(',')[0]?.trim() ?? address },
    { name: 'X-Forwarded-Proto', value: said('x-forwarded-proto').at(0) ?? scheme },
    { name: 'X-Forwarded-Host', value: said('x-forwarded-host').at(0) ?? host },
  ];
}

/** The host's own headers replace those of their name. */
function own(fields: Field[], headers: readonly string[], hostChange: string): Field[] {
  if (headers.length === 0) return fields;
  const set = headers.map((line): Field => {
    const colon = line.indexOf(':');
    return { name: line.slice(0, colon).trim(), value: latin1(line.slice(colon + 1).trim()) };
  }).filter(({ name }) => !reserved.has(name.toLowerCase()) && !(hostChange !== '' && name.toLowerCase() === 'host'));
  if (set.length === 0) return fields;
  const names = new Set(set.map(({ name }) => name.toLowerCase()));
  return [...fields.filter(({ name }) => !names.has(name.toLowerCase())), ...set];
}

/** A header's bytes as one character each: what isn't Latin-1 goes as UTF-8. */
function latin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** The fields that the visitor gets of a target's response; 101 keeps what it switches to. */
export function fieldsForVisitor(fields: readonly Field[], status: number): Field[] {
  const dropped = droppedBy(fields);
  const passed: Field[] = [];
  for (const field of fields) {
    const name = lowerCase(field.name);
    if (status === 101 ? name !== 'keep-alive' : !hopByHop.has(name) && !dropped.includes(name)) passed.push(field);
  }
  return passed;
}
