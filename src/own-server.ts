import * as z from 'zod';
import { sign } from './legacy/signature.ts';
import { readSettings, type SettingsInput } from './settings/load.ts';
import { SettingsError } from './settings/settings-error.ts';

/** How long the server may take to respond, in ms. */
const RESPONSE_MS = 10_000;

/** What a command about nodes can't do: one line for the operator. */
export class NodesError extends Error {
  override readonly name = 'NodesError';
}

const response = z.object({ data: z.nullish(z.unknown()), errors: z.optional(z.array(z.object({ message: z.string() }))) });

/** An operation of GraphQL, and the form of its result. */
export interface Operation<T> {
  readonly query: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly result: z.ZodType<T>;
}

/**
 * Runs an operation on the server that has these settings, with its own key.
 * @throws {SettingsError} if the settings are invalid
 * @throws {NodesError} if the server does not respond, or refuses the operation
 */
export async function askOwnServer<T>(input: SettingsInput, { query, variables = {}, result }: Operation<T>): Promise<T> {
  const { settings: { httpHost, httpPort, basePath, authKey } } = readSettings(input);
  if (authKey === '') throw new SettingsError(['auth_key: "adit nodes" signs its request with this key, which is empty or not generated yet']);
  if (httpPort === 0) throw new SettingsError(['http_port: give the port on which the server listens']);
  const any = httpHost === '0.0.0.0' ? '127.0.0.1' : httpHost === '::' ? '::1' : httpHost;
  const url = `http://${any.includes(':') ? `[${any}]` : any}:${httpPort}${basePath}/graphql`;
  const timestamp = Math.floor(Date.now() / 1000);
  let parsed;
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-adit-auth-key': sign(authKey, timestamp), 'x-adit-timestamp': String(timestamp) },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(RESPONSE_MS),
    });
    parsed = response.safeParse(await answer.json());
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new NodesError(`no response from the server at ${url}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause: error });
  }
  const data = result.safeParse(parsed.data?.data);
  if (!data.success) {
    throw new NodesError(`the server at ${url} refused the request: ${parsed.data?.errors?.[0]?.message ?? 'its response has an unknown form'}`);
  }
  return data.data;
}
