import type { WantedHost } from '../../src/engine/face.ts';

/** Who of the two ends of a conversation. */
type Who = 'visitor' | 'origin';

/** One thing that happens, or that has to be seen, at one end of a conversation. */
export type Step =
  /** Bytes, as Latin-1. What is seen is exactly that, after what was seen before. */
  | { readonly who: Who; readonly does: 'says' | 'sees'; readonly text: string }
  /** Closes its direction; resets the connection; closes it in both directions. */
  | { readonly who: Who; readonly does: 'ends' | 'resets' }
  /** The other one has closed its direction; has reset the connection, or closed it with something missing. */
  | { readonly who: Who; readonly does: 'seesEnd' | 'seesReset' }
  /** From here on the next connection to the origin is meant. */
  | { readonly who: 'origin'; readonly does: 'accepts' }
  /** An answer of the server's own, whole, of that status; `closing` = it says that the connection ends, which does. */
  | { readonly who: 'visitor'; readonly does: 'isRefused'; readonly status: number; readonly closing: boolean; readonly body: RegExp }
  /** What an origin that answers by itself took a request for. */
  | { readonly who: 'origin'; readonly does: 'took'; readonly request: TakenRequest };

/** A request as a program behind the server understood it. */
export interface TakenRequest {
  /** Method, target and version. */
  readonly line: string;
  /** `Name: value`, in the order in which they came; of nginx those that its log names. */
  readonly fields: readonly string[];
  readonly body: string;
  /** Only node:http tells. */
  readonly trailers?: readonly string[];
}

/** What happens between a visitor and an origin, in its order, and what each of them must see of the other. */
export interface Conversation {
  /** A behavior. */
  readonly name: string;
  /** How the host differs from `example.test` without settings. */
  readonly host?: Partial<WantedHost>;
  /** The visitor's address, 127.0.0.1 by default. */
  readonly from?: string;
  readonly steps: readonly Step[];
}

/** What a visitor does and sees. */
export const visitor = {
  says: (...texts: string[]): Step => ({ who: 'visitor', does: 'says', text: texts.join('') }),
  sees: (...texts: string[]): Step => ({ who: 'visitor', does: 'sees', text: texts.join('') }),
  ends: { who: 'visitor', does: 'ends' },
  resets: { who: 'visitor', does: 'resets' },
  seesEnd: { who: 'visitor', does: 'seesEnd' },
  seesReset: { who: 'visitor', does: 'seesReset' },
  /** The connection ends after the answer. */
  isRefused: (status: number, body = /<!doctype html>/): Step => ({ who: 'visitor', does: 'isRefused', status, closing: true, body }),
  /** The connection goes on after the answer. */
  isAnswered: (status: number, body = /<!doctype html>/): Step => ({ who: 'visitor', does: 'isRefused', status, closing: false, body }),
} as const;

/** What an origin does and sees. */
export const origin = {
  says: (...texts: string[]): Step => ({ who: 'origin', does: 'says', text: texts.join('') }),
  sees: (...texts: string[]): Step => ({ who: 'origin', does: 'sees', text: texts.join('') }),
  ends: { who: 'origin', does: 'ends' },
  resets: { who: 'origin', does: 'resets' },
  seesEnd: { who: 'origin', does: 'seesEnd' },
  seesReset: { who: 'origin', does: 'seesReset' },
  accepts: { who: 'origin', does: 'accepts' },
  took: (line: string, fields: readonly string[], body = '', trailers?: readonly string[]): Step => (
    { who: 'origin', does: 'took', request: { line, fields, body, ...(trailers && { trailers }) } }
  ),
} as const;

/** A head, or a part of a chunked body: lines, and an empty one. */
export function head(...lines: readonly string[]): string {
  return [...lines, '', ''].join('\r\n');
}

/** A request to the host, as a visitor sends it. */
export function request(line: string, ...fields: readonly string[]): string {
  return head(`${line} HTTP/1.1`, 'Host: example.test', ...fields);
}

/** What the server says of a visitor, in front of the host's own headers. */
export const visitorFields: readonly string[] = [
  'X-Forwarded-For: 127.0.0.1',
  'X-Real-IP: 127.0.0.1',
  'X-Forwarded-Proto: http',
  'X-Forwarded-Host: example.test',
];

/** The same request as the origin gets it. */
export function forwarded(line: string, ...fields: readonly string[]): string {
  return head(`${line} HTTP/1.1`, 'Host: example.test', ...fields, ...visitorFields);
}

/** A chunk of a body. */
export function chunk(data: string): string {
  return `${data.length.toString(16)}\r\n${data}\r\n`;
}

/** The end of a chunked body without a trailer. */
export const lastChunk = '0\r\n\r\n';
