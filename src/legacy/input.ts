import querystring from 'node:querystring';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Busboy } from '@fastify/busboy';
import { bodyLimit, type LargeBodies, usualBody } from './large-bodies.ts';

/**
 * The parameters of a legacy call as text, by name: body and query string merged (contract D24). JSON numbers and booleans
 * are converted to the text that a form would send, so that all encodings are equivalent.
 */
export interface Input extends ReadonlyMap<string, string> {
  /** The names that occurred more than once; absent = none. */
  readonly repeated?: ReadonlySet<string>;
  /** Size of the body; absent = no body. */
  readonly bodyBytes?: number;
}

class CollectedInput extends Map<string, string> {
  readonly repeated = new Set<string>();
  bodyBytes = 0;
}

/** A request that can't be read. `status` is the HTTP status, `message` is shown to the caller. */
export class UnreadableRequest extends Error {
  override readonly name = 'UnreadableRequest';
  readonly status: 400 | 413 | 415 | 503;
  constructor(status: 400 | 413 | 415 | 503, message: string) {
    super(message);
    this.status = status;
  }
}

/** The caller disconnected before its body was complete, so there is nobody to respond to. */
export class RequestAborted extends Error {
  override readonly name = 'RequestAborted';
}

/** The server reads and discards an oversized body up to this size, so that most callers finish writing and read the response. */
const discardLimit = 4 * 1024 * 1024;
/** Maximum number of parameters, in the body and in the query string. */
const parameterLimit = 200;

/**
 * Reads and merges the parameters of a request. The body takes precedence over the query string, and the first of several values of
 * a parameter counts (contract section 0). A body in an unknown encoding is ignored if the query string contains the signature.
 * @param address the caller's address
 * @param room the memory budget for large bodies
 * @throws {UnreadableRequest} 413 for a body over 3 MB, 503 if the budget is exhausted, 415 for an unknown encoding, 400 for a malformed body
 * @throws {RequestAborted}
 */
export async function readInput(request: IncomingMessage, address: string, room: LargeBodies): Promise<Input> {
  const input = new CollectedInput();
  const url = request.url ?? '';
  const start = url.indexOf('?');
  const query = start < 0 ? '' : url.slice(start + 1);
  if (hasBody(request.headers)) {
    const body = await readBody(request, address, room);
    input.bodyBytes = body.length;
    if (body.length > 0) await addBody(input, request.headers, body, query);
  }
  if (query !== '') addForm(input, query);
  return input;
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function readBody(request: IncomingMessage, address: string, room: LargeBodies): Promise<Buffer> {
  let taken = 0;
  return new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let refused: UnreadableRequest | undefined;
    const refusal = (bytes: number): UnreadableRequest | undefined => {
      if (size > bodyLimit) return tooLarge(bodyLimit);
      if (size <= usualBody) return undefined;
      if (!room.take(address, bytes)) return new UnreadableRequest(503, 'too many large request bodies at the moment, try again later');
      taken += bytes;
      return undefined;
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      refused ??= refusal(chunk.length);
      if (!refused) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      if (size <= discardLimit) return;
      request.pause();
      reject(refused);
    });
    request.on('end', () => refused ? reject(refused) : resolve(Buffer.concat(chunks)));
    request.on('error', () => reject(new RequestAborted()));
    request.on('close', () => {
      if (!request.complete) reject(new RequestAborted());
    });
  }).finally(() => room.giveBack(address, taken));
}

/** The error for a body over a limit in bytes. */
export function tooLarge(limit: number): UnreadableRequest {
  return new UnreadableRequest(413, `the request body is larger than ${limit >= 1024 * 1024 ? `${limit / 1024 / 1024} MB` : `${limit / 1024} KB`}`);
}

async function addBody(input: CollectedInput, headers: IncomingHttpHeaders, body: Buffer, query: string): Promise<void> {
  const type = (headers['content-type'] ?? '').split(';', 1).join('').trim().toLowerCase();
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new UnreadableRequest(415, 'a compressed request body is not supported');
  }
  if (type === 'application/x-www-form-urlencoded') addForm(input, body.toString());
  else if (type === 'multipart/form-data') await addMultipart(input, headers, body);
  else if (type === 'application/json' || type.endsWith('+json')) addJson(input, body.toString());
  else if (!new URLSearchParams(query).has('auth_key')) {
    throw new UnreadableRequest(
      415,
      'the content type of the request body must be '
        + 'application/x-www-form-urlencoded, multipart/form-data or application/json',
    );
  }
}

function add(input: CollectedInput, name: string, value: string): void {
  if (input.has(name)) input.repeated.add(name);
  else input.set(name, value);
}

function tooMany(): UnreadableRequest {
  return new UnreadableRequest(400, `too many parameters (at most ${parameterLimit})`);
}

function addForm(input: CollectedInput, text: string): void {
  let pairs = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) pairs += 1;
  if (pairs > parameterLimit) throw tooMany();
  const values = querystring.parse(text);
  for (const name in values) {
    const value = values[name];
    if (Array.isArray(value)) input.repeated.add(name);
    add(input, name, (Array.isArray(value) ? value[0] : value) ?? '');
  }
}

function addMultipart(input: CollectedInput, headers: IncomingHttpHeaders, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const broken = () => reject(new UnreadableRequest(400, 'the multipart request body is broken'));
    let parser: InstanceType<typeof Busboy>;
    try {
      parser = new Busboy({
        headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
        // File parts are ignored: no parameter of this API is a file.
        limits: { fields: parameterLimit, parts: parameterLimit, files: 0, fieldSize: bodyLimit, headerPairs: 20 },
      });
    } catch {
      broken(); // no boundary
      return;
    }
    parser.on('field', (name, value) => add(input, name, value));
    parser.on('fieldsLimit', () => reject(tooMany()));
    parser.on('partsLimit', () => reject(tooMany()));
    parser.on('error', broken);
    parser.on('finish', () => resolve());
    parser.end(body);
  });
}

function addJson(input: CollectedInput, text: string): void {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    throw new UnreadableRequest(400, 'the JSON request body is broken');
  }
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new UnreadableRequest(400, 'the JSON request body must be an object');
  }
  const entries = Object.entries(values);
  if (entries.length > parameterLimit) throw tooMany();
  for (const [name, value] of entries) {
    // null is equivalent to an absent parameter
    if (value !== null) add(input, name, jsonText(value));
  }
}

function jsonText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value);
  } catch {
    throw new UnreadableRequest(400, 'the JSON request body is nested too deep');
  }
}
