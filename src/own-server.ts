import * as z from 'zod';
import { sign } from './legacy/signature.ts';
import { graphqlUrl, post } from './migration/post.ts';
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
  const { settings } = readSettings(input);
  if (settings.authKey === '') throw new SettingsError(['auth_key: "adit nodes" signs its request with this key, which is empty or not generated yet']);
  if (settings.httpPort === 0) throw new SettingsError(['http_port: give the port on which the server listens']);
  const url = graphqlUrl(settings);
  const timestamp = Math.floor(Date.now() / 1000);
  let parsed;
  try {
    const signature = { 'x-adit-auth-key': sign(settings.authKey, timestamp), 'x-adit-timestamp': String(timestamp) };
    const { body } = await post(url, signature, JSON.stringify({ query, variables }), AbortSignal.timeout(RESPONSE_MS));
    parsed = response.safeParse(JSON.parse(body));
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
