import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import * as z from 'zod';
import { agentInfoSchema, agentMessageSchema } from '../../src/wire/agent-messages.ts';
import { readUnreadable } from '../../src/wire/declaration.ts';
import { directMessageSchema } from '../../src/wire/direct-messages.ts';
import { refusalSchema } from '../../src/wire/handshake-error.ts';
import { nodeInfoSchema, nodeMessageSchema, nodeRequestSchema, nodeWelcomeSchema } from '../../src/wire/node-messages.ts';
import { openRequestSchema } from '../../src/wire/open.ts';
import { areSeveral, otherServersSchema } from '../../src/wire/other-servers.ts';
import { serverMessageSchema, sessionMessageSchema, welcomeSchema } from '../../src/wire/session-messages.ts';
import { doubtSchema } from '../../src/wire/standby-messages.ts';
import { fromVisitorSchema, toVisitorSchema, visitorInfoSchema, visitWelcomeSchema } from '../../src/wire/visit-messages.ts';

const messages = {
  'an agent of itself': agentInfoSchema,
  'an agent': agentMessageSchema,
  'the server, welcoming an agent': welcomeSchema,
  'the server to an agent': serverMessageSchema,
  'the server in every session': sessionMessageSchema,
  'the server to a session in reserve': doubtSchema,
  'the server that refuses': refusalSchema,
  'a visitor of itself': visitorInfoSchema,
  'the server, welcoming a visitor': visitWelcomeSchema,
  'the server to a visitor': toVisitorSchema,
  'a visitor': fromVisitorSchema,
  'both ends of a direct path': directMessageSchema,
  'a node of itself': nodeInfoSchema,
  'a node, welcoming another': nodeWelcomeSchema,
  'a node': nodeMessageSchema,
  'to open a stream to an agent': openRequestSchema,
  'to open a stream to a node': nodeRequestSchema,
};

/** The largest number that is accepted. */
function most(accepts: (count: number) => boolean): number {
  let [low, high] = [0, 100_000];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (accepts(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

type Described = z.core.JSONSchema._JSONSchema;

function describeSchema(schema: z.ZodType): Described {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // What no JSON Schema says: where a label is cut off, how many values a list may have, and how long.
      if (!(zodSchema instanceof z.ZodPipe)) return;
      const label = z.string().safeParse(zodSchema.safeParse('x'.repeat(100_000)).data);
      if (label.success) jsonSchema['cut'] = label.data.length;
      if (!(zodSchema.in instanceof z.ZodCustom)) return;
      jsonSchema['values'] = most((count) => zodSchema.safeParse(Array.from({ length: count }, () => '')).success);
      jsonSchema['lengths'] = most((length) => zodSchema.safeParse(['x'.repeat(length)]).success);
    },
  });
}

/** One line for each field. */
function* linesOf(name: string, described: Described): Generator<string> {
  if (typeof described === 'boolean') return;
  const { properties, required = [], items, prefixItems = [], oneOf = [], anyOf = [], $schema: _, ...own } = described;
  const alternatives = [...oneOf, ...anyOf];
  if (!properties && alternatives.length === 0) yield `${name} ${JSON.stringify(own, (_, value: unknown) => isLimit(value) ? value : undefined)}`;
  for (const [index, one] of alternatives.entries()) yield* linesOf(`${name}|${kindOf(one, String(index))}`, one);
  for (const [key, one] of Object.entries(properties ?? {})) yield* linesOf(`${name}.${key}${required.includes(key) ? '' : '?'}`, one);
  for (const one of [items ?? []].flat()) yield* linesOf(`${name}[]`, one);
  for (const [index, one] of prefixItems.entries()) yield* linesOf(`${name}[${index}]`, one);
}

function isLimit(value: unknown): boolean {
  return Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER;
}

/** What a message differs in from the other ones. @param otherwise where it has no such field */
function kindOf(described: Described, otherwise: string): string {
  if (typeof described === 'boolean') return otherwise;
  const kind = described.properties?.['type'] ?? described.properties?.['kind'];
  return typeof kind === 'object' && typeof kind.const === 'string' ? kind.const : otherwise;
}

test('the messages have the fields, values and limits of messages.txt, which other versions know, too', () => {
  const lines = Object.entries(messages).flatMap(([sender, schema]) => Array.from(linesOf(sender, describeSchema(schema))));
  expect(lines).toEqual(readFileSync(new URL('messages.txt', import.meta.url), 'utf8').trimEnd().split('\n'));
});

test('of a declaration that cannot be read, as much is read as can be', () => {
  const problem = expect.any(String);
  for (const kind of ['tunnel', 'host']) {
    expect(readUnreadable({ type: kind, name: 'web', [kind]: {} })).toEqual({ problem, entry: { kind, name: 'web' } });
    expect(readUnreadable({ type: kind, name: '' })).toEqual({ problem, entry: undefined });
    expect(readUnreadable({ type: 'withdraw', kind, name: 'web' })).toBeUndefined();
    expect(readUnreadable({ type: 'withdraw', kind, name: '' })).toEqual({ problem, entry: undefined });
  }
  expect(readUnreadable({ type: 'tunnel', name: 'web', tunnel: { mode: 'tcp', port: 70_000 } })?.problem).toMatch(/^tunnel\.port: /);
  for (const other of [{ type: 'overview' }, {}, null]) expect(readUnreadable(other)).toBeUndefined();
});

test('other servers are reached by a name or an address, and any of them is one', () => {
  const hosts = ['a-b.example', '192.0.2.1', '2001:db8::1', 'FE80::A', 'a'.repeat(253), '', 'a b', '[::1]', 'a'.repeat(254), 'ä'];
  const accepted = (host: string): boolean => otherServersSchema.safeParse({ type: 'servers', servers: [{ host, port: 1, tlsPort: 65_535 }] }).success;
  expect(hosts.map((host) => accepted(host))).toEqual([true, true, true, true, true, false, false, false, false, false]);
  const server = { host: 'a', port: 1, tlsPort: 2 };
  const several = [{ servers: [], here: false }, { servers: [], here: true }, { servers: [server], here: false }, { servers: [server], here: true }];
  expect(several.map((others) => areSeveral(others))).toEqual([false, true, true, true]);
});
