import type { Prisma, PrismaClient } from './generated/sqlite/client.ts';

/** What only reads, of all that Prisma does with a model. */
type Read = 'findUnique' | 'findUniqueOrThrow' | 'findFirst' | 'findFirstOrThrow' | 'findMany' | 'count' | 'aggregate' | 'groupBy';

/**
 * The models, to read from. A transaction is one too, so a function that only reads takes this type and can be given either.
 * There is nothing here to write with: rows are written in a transaction, which the compiler enforces.
 */
export type Reading = { readonly [Name in Prisma.ModelName as Uncapitalize<Name>]: Pick<PrismaClient[Uncapitalize<Name>], Read> };
