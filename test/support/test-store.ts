import type { PrismaClient } from '../../src/store/generated/sqlite/client.ts';
import type { Store } from '../../src/store/store.ts';

/** A store whose `db` can write too, for a test to put there what it starts from. The program only reads with it. */
export type TestStore = Store & { readonly db: PrismaClient };

/** A store as {@link TestStore}: at run time its client has everything. */
export function writable(store: Store): TestStore {
  return store as TestStore;
}
