import { useSyncExternalStore } from 'react';

/** A value that components outside of each other's tree share. */
export interface Store<Value> {
  readonly get: () => Value;
  readonly set: (value: Value) => void;
  /** Calls the listener after each change. @returns ends the calls */
  readonly subscribe: (listener: () => void) => () => void;
}

/** Makes a store. */
export function createStore<Value>(initial: Value): Store<Value> {
  const listeners = new Set<() => void>();
  let current = initial;
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The current value of a store; the component is rendered again when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  return useSyncExternalStore(store.subscribe, store.get);
}
