import type { GraphiQLProvider } from '@graphiql/react';
import type { ComponentProps } from 'react';
import * as z from 'zod/mini';

type GraphiqlStorage = NonNullable<ComponentProps<typeof GraphiQLProvider>['storage']>;

/**
 * A string value of a field, an argument or a variable, or the default of a variable, whose name says that it is secret. While it is typed, its end is missing. A name is tried
 * at its beginning only: tried at each of its letters, a long word would hold the page.
 */
const secretValue =
  /((?<!\w)(?=\w*(?:password|passphrase|secret|token|key|authorization))\w+"?\s*:\s*(?:[\w![\]][\w![\]\s]*=\s*)?)(?:"""(?:\\"""|(?!""")[^])*(?:"""|$)|"(?:[^"\\\n]|\\.)*"?)/gi;
const Text = z.nullable(z.string());
const Tabs = z.object({ activeTabIndex: z.number(), tabs: z.array(z.object({ query: Text, variables: Text })) });
/** The entry that contains the tabs, as JSON. */
const tabState = 'graphiql:tabState';

/**
 * What GraphiQL keeps for a caller: others who use this browser get their own tabs. Operations are kept in the browser; variables only until the browser's
 * tab is closed. Headers and values of secret fields are never kept.
 * @param caller text that differs for each user and client
 */
export function storageFor(caller: string): GraphiqlStorage {
  const prefix = `adit.graphiql.${caller}.`;
  const areas = [sessionStorage, localStorage];
  const stored = (name: string): string | null => sessionStorage.getItem(prefix + name) ?? localStorage.getItem(prefix + name);
  const keys = (area: Storage): string[] => Object.keys(area).filter((key) => key.startsWith(prefix));
  return {
    get length() {
      return new Set(areas.flatMap(keys)).size;
    },
    getItem(name) {
      // From the tabs: if it were different, GraphiQL would add a tab.
      if (name === 'graphiql:query') return currentTab(stored(tabState))?.query ?? null;
      if (name === 'graphiql:variables') return currentTab(stored(tabState))?.variables ?? null;
      return stored(name);
    },
    setItem(name, value) {
      if (['graphiql:query', 'graphiql:variables', 'graphiql:headers'].includes(name)) return;
      const kept = name === tabState ? withoutSecrets(value) : value;
      sessionStorage.setItem(prefix + name, kept);
      localStorage.setItem(prefix + name, name === tabState ? mapped(kept, (key, part) => key === 'variables' ? null : part) : kept);
    },
    removeItem(name) {
      for (const area of areas) area.removeItem(prefix + name);
    },
    clear() {
      for (const area of areas) for (const key of keys(area)) area.removeItem(key);
    },
  };
}

function currentTab(state: string | null) {
  if (state === null) return undefined;
  const { data } = Tabs.safeParse(JSON.parse(state));
  return data?.tabs[data.activeTabIndex];
}

/** An operation or its variables, with an empty text for each value of a secret field. */
export function withoutSecretValues(text: string): string {
  return text.replaceAll(secretValue, '$1""');
}

function withoutSecrets(state: string): string {
  return mapped(state, (key, part) => {
    if (key === 'headers') return null;
    return typeof part === 'string' && (key === 'query' || key === 'variables') ? withoutSecretValues(part) : part;
  });
}

function mapped(json: string, change: (key: string, part: unknown) => unknown): string {
  return JSON.stringify(JSON.parse(json, change));
}
