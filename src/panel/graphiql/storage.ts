import type { GraphiQLProvider } from '@graphiql/react';
import type { ComponentProps } from 'react';

type GraphiqlStorage = NonNullable<ComponentProps<typeof GraphiQLProvider>['storage']>;

/** A string value of a field, an argument or a variable whose name says that it is secret. */
const secretValue = /("?\w*(?:password|passphrase|secret|token|key|authorization)\w*"?\s*:\s*)(?:"""[^]*?"""|"(?:[^"\\\n]|\\.)*")/gi;
/** The entries that contain tabs, or operations that ran, as JSON. */
const collections: ReadonlySet<string> = new Set(['graphiql:tabState', 'graphiql:queries', 'graphiql:favorites']);

/**
 * What GraphiQL keeps for a caller: others who use this browser get their own tabs. Operations are kept in the browser; variables only until the browser's
 * tab is closed. Headers and values of secret fields are never kept.
 * @param caller text that differs for each user and client
 */
export function storageFor(caller: string): GraphiqlStorage {
  const prefix = `adit.graphiql.${caller}.`;
  const areas = [sessionStorage, localStorage];
  const keys = (area: Storage): string[] => Object.keys(area).filter((key) => key.startsWith(prefix));
  return {
    get length() {
      return new Set(areas.flatMap(keys)).size;
    },
    getItem: (name) => sessionStorage.getItem(prefix + name) ?? localStorage.getItem(prefix + name),
    setItem(name, value) {
      if (name === 'graphiql:headers') return;
      sessionStorage.setItem(prefix + name, withoutSecrets(name, value));
      if (name !== 'graphiql:variables') localStorage.setItem(prefix + name, withoutVariables(name, withoutSecrets(name, value)));
    },
    removeItem(name) {
      for (const area of areas) area.removeItem(prefix + name);
    },
    clear() {
      for (const area of areas) for (const key of keys(area)) area.removeItem(key);
    },
  };
}

function withoutSecrets(name: string, value: string): string {
  if (!collections.has(name)) return value.replaceAll(secretValue, '$1""');
  return mapped(value, (key, part) => {
    if (key === 'headers') return null;
    return typeof part === 'string' && (key === 'query' || key === 'variables') ? part.replaceAll(secretValue, '$1""') : part;
  });
}

function withoutVariables(name: string, value: string): string {
  return collections.has(name) ? mapped(value, (key, part) => key === 'variables' ? null : part) : value;
}

function mapped(json: string, change: (key: string, part: unknown) => unknown): string {
  return JSON.stringify(JSON.parse(json, change));
}
