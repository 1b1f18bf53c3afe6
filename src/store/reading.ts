import type { Prisma, PrismaClient } from './generated/sqlite/client.ts';

/** The read-only operations of a Prisma model. */
type Read = 'findUnique' | 'findUniqueOrThrow' | 'findFirst' | 'findFirstOrThrow' | 'findMany' | 'count' | 'aggregate' | 'groupBy';

/**
 * The models, for reading. A transaction also has this type, so functions that only read accept both.
 * There are no write operations here: rows are written in a transaction, which the compiler enforces.
 */
export type Reading = { readonly [Name in Prisma.ModelName as Uncapitalize<Name>]: Pick<PrismaClient[Uncapitalize<Name>], Read> };
