import SchemaBuilder from '@pothos/core';
import PrismaPlugin from '@pothos/plugin-prisma';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import type { Context } from './context.ts';
import { AditError } from './errors.ts';
import type PrismaTypes from './generated/pothos.ts';
import { getDatamodel } from './generated/pothos.ts';

/**
 * The authorization scopes of a field. Every root field has one of the first five (otherwise schema.ts refuses to start).
 * `access/records.ts` decides which records its callers may see and change.
 */
interface Scopes {
  /** Includes unauthenticated callers, through the public endpoints; excludes read-only tokens. */
  readonly anyone: boolean;
  /** Administrators only. */
  readonly administrator: boolean;
  /** Ordinary users and administrators. */
  readonly user: boolean;
  /** Every authenticated caller, including the web login of a client. */
  readonly clientLogin: boolean;
  /** Also tokens for wall displays, which may use no other field. */
  readonly wall: boolean;
  /** Callers that are not read-only. Required for all mutations, by their type. */
  readonly write: boolean;
}

/** Our own loaders and pages provide the data of fields (docs/decisions/edges-by-dataloader.md), so Pothos gets no database access. */
const noClient = { $connect: () => Promise.reject(new Error('Pothos has no client: load by the context')) };

/**
 * The builder that declares every type, query and mutation. The rows of both database clients have the same types, so the types of
 * the SQLite client are used for both.
 */
export const builder = new SchemaBuilder<{
  Context: Context;
  PrismaTypes: PrismaTypes;
  DefaultFieldNullability: false;
  AuthScopes: Scopes;
  Scalars: {
    DateTime: { Input: Date; Output: Date };
    Bytes: { Input: number; Output: number | bigint };
    BytesPerSecond: { Input: number; Output: number };
    KibPerSecond: { Input: number; Output: number };
    Mebibytes: { Input: number; Output: number };
    ID: { Input: string; Output: string | number };
    Port: { Input: number; Output: number };
    JSON: { Input: never; Output: unknown };
  };
}>({
  plugins: [ScopeAuthPlugin, PrismaPlugin],
  defaultFieldNullability: false,
  prisma: { client: noClient, dmmf: getDatamodel() },
  scopeAuth: {
    // Checked once, when it begins; a subscription ends when its caller loses access (subscriptions/live.ts).
    authorizeOnSubscribe: true,
    authScopes: ({ caller: { kind, readOnly, wall } }) => ({
      anyone: readOnly !== true && wall !== true,
      administrator: kind === 'admin' && wall !== true,
      user: (kind === 'admin' || kind === 'user') && wall !== true,
      clientLogin: kind !== 'anonymous' && wall !== true,
      wall: kind !== 'anonymous',
      write: kind !== 'anonymous' && readOnly !== true && wall !== true,
    }),
    unauthorizedError: (_parent, { caller }) => new AditError(caller.kind === 'anonymous' ? 'UNAUTHENTICATED' : 'FORBIDDEN'),
  },
});

// Required for every root field in addition to its own scopes: authentication, and write permission for mutations.
builder.queryType({ description: 'All queries. Ordinary users see what belongs to their clients.', authScopes: { wall: true } });
builder.mutationType({ description: 'All mutations. Ordinary users may change what belongs to their clients.', authScopes: { write: true } });

/** The builder of the fields of an input type, for fields that two types share. */
export type InputFields = PothosSchemaTypes.InputFieldBuilder<(typeof builder)['$inferSchemaTypes'], 'InputObject'>;
