import { type DocumentNode, execute, GraphQLError, parse, validate } from 'graphql';
import pino from 'pino';
import { z } from 'zod';
import type { EngineFace } from '../../src/engine/face.ts';
import type { Caller } from '../../src/rules/caller.ts';
import { Attempts } from '../../src/rules/attempts.ts';
import { createContext } from '../../src/schema/context.ts';
import { createErrorMask, withAllProblems } from '../../src/schema/errors.ts';
import { schema } from '../../src/schema/schema.ts';
import { createServices, type Services } from '../../src/schema/services.ts';
import { apart } from './apart.ts';
import type { TestDatabases } from './database.ts';
import type { TestStore } from './test-store.ts';
import { FakeEngine } from './engine.ts';
import { ownEngines } from './own-engines.ts';
import { schemaSettings } from './schema-settings.ts';
import { parseWithNumbers } from './record-ids.ts';

/** An answer as a caller sees it. */
interface Answer {
  readonly data: unknown;
  /** Masked, as everywhere outside. */
  readonly errors: readonly { readonly message: string; readonly code: unknown; readonly extensions: Readonly<Record<string, unknown>> }[];
}

/** The schema over a store of its own and an engine without sockets. */
export interface TestSchema extends SchemaOver {
  readonly engine: FakeEngine;
}

/** The schema over a store of its own. */
export interface SchemaOver {
  readonly services: Services & { readonly store: TestStore };
  /** Entries of the log. */
  readonly logged: readonly Record<string, unknown>[];
  /** Runs an operation, as an administrator by default. */
  readonly run: (operation: string, variables?: Variables, caller?: Caller) => Promise<Answer>;
  /** The data of an operation that has to work. */
  readonly ok: (operation: string, variables?: Variables) => Promise<unknown>;
  /** The record that the only field of an operation answers. */
  readonly record: (operation: string, variables?: Variables) => Promise<Readonly<Record<string, unknown>>>;
  /** The id of that record. */
  readonly id: (operation: string, variables?: Variables) => Promise<number>;
  /** The code of an operation that has to fail; undefined when it doesn't. */
  readonly code: (operation: string, variables?: Variables, caller?: Caller) => Promise<unknown>;
}

type Variables = Readonly<Record<string, unknown>>;

const entry = z.record(z.string(), z.unknown());

/** Valid operations, parsed: most are run many times. */
const documents = new Map<string, DocumentNode>();

/** An operation, or what is wrong with it. */
function documentOf(source: string): DocumentNode | readonly GraphQLError[] {
  const known = documents.get(source);
  if (known !== undefined) return known;
  try {
    const document = parse(source);
    const errors = validate(schema, document);
    if (errors.length > 0) return errors;
    documents.set(source, document);
    return document;
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}

/** Makes one on an empty database. @param now ms since the epoch */
export async function openTestSchema(databases: TestDatabases, settings?: Partial<Services['settings']>, now?: () => number): Promise<TestSchema> {
  const engine = new FakeEngine();
  const over = await openSchemaOver(engine, databases, settings, now);
  ownEngines.set(over.services.store, engine);
  return { engine, ...over };
}

/** Makes one on an empty database over an engine, as if that ran in another process. @param now ms since the epoch */
export async function openSchemaOver(
  engine: EngineFace,
  databases: TestDatabases,
  settings: Partial<Services['settings']> = {},
  now: () => number = Date.now,
): Promise<SchemaOver> {
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => logged.push(entry.parse(JSON.parse(line))) });
  const store = await databases.openEmpty();
  const services = {
    ...createServices({
      store,
      engine: apart(engine),
      attempts: new Attempts(),
      freshState: () => Promise.resolve(),
      log,
      now,
      settings: { ...schemaSettings, ...settings },
    }),
    store,
  };
  const mask = createErrorMask(log);
  const run: SchemaOver['run'] = async (source, variableValues, caller = { kind: 'admin' }) => {
    const document = documentOf(source);
    const { data, errors = [] } = 'kind' in document
      ? await execute({ schema, document, variableValues, contextValue: createContext(services, caller) })
      : { data: undefined, errors: document };
    // What a caller gets has been through JSON.
    const sent = parseWithNumbers(JSON.stringify(data ?? null));
    return { data: sent, errors: withAllProblems(errors.map(mask)).map(({ message, extensions }) => ({ message, code: extensions['code'], extensions })) };
  };
  const ok: SchemaOver['ok'] = async (operation, variables) => {
    const { data, errors } = await run(operation, variables);
    if (errors.length > 0) throw new Error(`the operation failed: ${JSON.stringify(errors)}`);
    return data;
  };
  const record: SchemaOver['record'] = async (operation, variables) => entry.parse(Object.values(entry.parse(await ok(operation, variables)))[0]);
  const id: SchemaOver['id'] = async (operation, variables) => z.number().parse((await record(operation, variables))['id']);
  const code: SchemaOver['code'] = async (operation, variables, caller) => (await run(operation, variables, caller)).errors[0]?.code;
  return { services, logged, run, ok, record, id, code };
}
