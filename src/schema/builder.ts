import SchemaBuilder from '@pothos/core';
import PrismaPlugin from '@pothos/plugin-prisma';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import type { Context } from './context.ts';
import { AditError } from './errors.ts';
import type PrismaTypes from './generated/pothos.ts';
import { getDatamodel } from './generated/pothos.ts';

/**
 * Who may use a field. Every root field says one of the first five (schema.ts refuses to start otherwise); which records its
 * callers then see and change, `access.ts` decides.
 */
interface Scopes {
  /** Strangers too, through the endpoints that are open to them; only who is held to reading is not. */
  readonly anyone: boolean;
  /** Administrators only. */
  readonly administrator: boolean;
  /** Ordinary users and administrators. */
  readonly user: boolean;
  /** The legacy client login too: everybody who has proven who they are. */
  readonly clientLogin: boolean;
  /** The tokens for displays on a wall too, which may use no other field. */
  readonly wall: boolean;
  /** Whoever is not held to reading. All mutations ask for it, by their type. */
  readonly write: boolean;
}

/** Fields load what they need by our own loaders and pages (docs/decisions/edges-by-dataloader.md), so Pothos gets no way to the database. */
const noClient = { $connect: () => Promise.reject(new Error('Pothos has no client: load by the context')) };

/**
 * The builder that every type, query and mutation is declared on. Both database clients have the same rows, so the types of
 * the SQLite one stand for both.
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
    // Once, when it begins; a subscription ends when its caller loses access (subscriptions/live.ts).
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

// What every root field asks for besides its own scopes: a known caller, and for changes one who may write.
builder.queryType({ description: 'What can be read. Ordinary users see what belongs to their clients.', authScopes: { wall: true } });
builder.mutationType({ description: 'What can be changed. Ordinary users change what belongs to their clients.', authScopes: { write: true } });

/** What declares the fields of an input type, where two types have some in common. */
export type InputFields = PothosSchemaTypes.InputFieldBuilder<(typeof builder)['$inferSchemaTypes'], 'InputObject'>;
