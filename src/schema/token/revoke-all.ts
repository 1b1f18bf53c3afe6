import type { Transaction } from '../../store/transaction.ts';
import type { MadeChange } from '../changes.ts';

/** Ends all tokens of a user: somebody who knew the former password may have made some. */
export async function revokeTokensOf(tx: Transaction, userId: number, changed: (change: MadeChange) => void): Promise<void> {
  const tokens = await tx.apiToken.findMany({ where: { userId }, orderBy: { id: 'asc' } });
  if (tokens.length === 0) return;
  await tx.apiToken.deleteMany({ where: { userId } });
  for (const before of tokens) changed({ resource: 'apiToken', action: 'delete', before });
}
