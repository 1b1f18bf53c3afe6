import { useSearchParams } from 'wouter';

/** The rows of a page of a list. */
export const pageRows = 50;

/** What a list shows: it is part of the page's address, so a link shows the same, and Back works. */
export interface ListState {
  readonly q: string;
  readonly sort: string;
  readonly isDescending: boolean;
  /** From 1. */
  readonly page: number;
  readonly offset: number;
  readonly get: (name: string) => string;
  /** Changes parameters; blank removes one. The list starts at its first page again, unless the page itself is set. @param replace the browser's Back skips the state before */
  readonly set: (parameters: Readonly<Record<string, string>>, replace?: boolean) => void;
  /** Sorts by a column, or the other way round if it already is sorted by it. */
  readonly sortBy: (field: string) => void;
  readonly isFiltered: boolean;
}

/** The state of a list in the page's address. @param sort the column that it is sorted by at first; `-` in front = descending */
export function useListState(sort: string): ListState {
  const [parameters, setParameters] = useSearchParams();
  const chosen = parameters.get('sort') ?? sort;
  const isDescending = chosen.startsWith('-');
  const field = chosen.replace(/^-/, '');
  const page = Math.max(1, Math.trunc(Number(parameters.get('page') ?? '1')) || 1);
  const set: ListState['set'] = (changed, replace = 'q' in changed) =>
    setParameters((before) => {
      const next = new URLSearchParams(before);
      next.delete('page');
      for (const [name, value] of Object.entries(changed)) {
        if (value === '') next.delete(name);
        else next.set(name, value);
      }
      return next;
    }, { replace });
  return {
    q: parameters.get('q') ?? '',
    sort: field,
    isDescending,
    page,
    offset: (page - 1) * pageRows,
    get: (name) => parameters.get(name) ?? '',
    set,
    sortBy: (name) => set({ sort: name === field && !isDescending ? `-${name}` : name }),
    isFiltered: [...parameters.keys()].some((name) => !['sort', 'page'].includes(name)),
  };
}
