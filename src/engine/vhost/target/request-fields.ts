import { isIP } from 'node:net';
import { forwardedAddress } from '../../../rules/forwarded-for.ts';
import { endToEnd, endToEndOfResponse } from '../../http/end-to-end.ts';
import { Field, listOf, valuesOf } from '../../http/field.ts';
import type { RequestHead } from '../../http/head.ts';
import { PlainRequestHead } from '../../http/plain-head.ts';
import { plantsSession, withoutSession } from '../../http/session-fields.ts';
import type { HostFields } from './host-fields.ts';

/** The origin of a request, as the target sees it. */
export interface Origin {
  /** The address at the other end of the connection. */
  readonly address: string;
  readonly scheme: 'http' | 'https';
  /** The Host header, or the authority of the request line, as it was sent. */
  readonly host: string;
  /** The address is that of a trusted proxy: its information about the visitor is used. */
  readonly trusted: boolean;
}

/**
 * Fields that this server sets; those of a visitor are not passed on, also not under a name that CGI treats as the same (`X_Real_IP`). In the
 * spelling of `Field.variable`.
 */
const replacedFields = new Set(['host', 'x-forwarded-for', 'x-real-ip', 'x-forwarded-proto', 'x-forwarded-host', 'forwarded']);

/** The fields that replace those of the request (contract 4.7: header, hostchange). */
export function fieldsForTarget(head: RequestHead, own: HostFields, origin: Origin): Field[] {
  const fields = own.names.has('host') ? [] : [own.host ?? Field.of('Host', origin.host)];
  for (const field of endToEnd(head.fields)) {
    const name = field.variable;
    if (replacedFields.has(name) || own.names.has(name)) continue;
    const kept = withoutSession(field);
    if (kept) fields.push(kept);
  }
  const upgrade = upgradeOf(head);
  if (upgrade !== undefined) fields.push(Field.of('Connection', 'Upgrade'), Field.of('Upgrade', upgrade));
  for (const field of tellOrigin(head.fields, origin)) {
    if (!own.names.has(field.lower)) fields.push(field);
  }
  fields.push(...own.fields);
  return fields;
}

/** The client's address: the last one in the chain of proxies that is not a trusted proxy. @param peer a trusted one */
export function visitorOf(fields: readonly Field[], peer: string, trusts: (address: string) => boolean): string {
  const passed = valuesOf(fields, 'x-forwarded-for').flatMap((value) => value.split(',')).map(forwardedAddress);
  for (const address of passed.toReversed()) {
    if (isIP(address) === 0) return peer;
    if (!trusts(address)) return address;
  }
  return passed[0] ?? peer;
}

/** The protocol of a request's Upgrade; undefined = none (RFC 9110, 7.8). */
export function upgradeOf(head: RequestHead): string | undefined {
  if (head instanceof PlainRequestHead) return undefined;
  const { minor, fields } = head;
  if (minor === 0 || !listOf(fields, 'connection').includes('upgrade')) return undefined;
  const protocols = valuesOf(fields, 'upgrade');
  // With cleartext HTTP/2, all later requests would bypass this server.
  return protocols.length === 1 && protocols[0] !== '' && !/\bh2c\b/i.test(protocols[0] ?? '') ? protocols[0] : undefined;
}

/** The origin of a request for the target. @param fields of the request: used if the peer is trusted */
export function tellOrigin(fields: readonly Field[], { address, scheme, host, trusted }: Origin): Field[] {
  const said = (name: string) => (trusted ? valuesOf(fields, name) : []);
  return [
    Field.of('X-Forwarded-For', [...said('x-forwarded-for'), address].join(', ')),
    Field.of('X-Real-IP', said('x-real-ip').at(0) ?? said('x-forwarded-for').at(0)?.split(',').map(forwardedAddress)[0] ?? address),
    Field.of('X-Forwarded-Proto', said('x-forwarded-proto').at(0) ?? scheme),
    Field.of('X-Forwarded-Host', said('x-forwarded-host').at(0) ?? host),
  ];
}

/** Fields that a 101 response can't have: it has no body, and the connection switches to another protocol. */
const notInSwitch = new Set(['keep-alive', 'content-length', 'transfer-encoding', 'trailer']);

/** The fields of a target's response that the visitor gets; 101 keeps Upgrade. @param minor the y of the visitor's HTTP/1.y */
export function fieldsForVisitor(fields: readonly Field[], { status, minor }: { readonly status: number; readonly minor: 0 | 1 }): Field[] {
  const passed = status === 101 ? fields.filter(({ lower }) => !notInSwitch.has(lower)) : endToEndOfResponse(fields, { status, minor });
  return passed.some(plantsSession) ? passed.filter((field) => !plantsSession(field)) : passed;
}
