import type { FakeEngine } from './engine.ts';
import type { TestStore } from './test-store.ts';

/** The engine that follows the changes to a store in the suite itself, to be compared with what another node has. */
export const ownEngines = new WeakMap<TestStore, FakeEngine>();
