import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { useState } from 'react';
import type { AnyVariables, CombinedError } from 'urql';
import { useAsk, useData } from '../api/use.ts';
import { type ListState, pageRows } from './list-state.ts';
import { type SelectedRows, useSelection } from './selection.ts';
import { useSteadyRows } from './steady-rows.ts';
import { useThrottled } from './throttled.ts';

/** The numbers of a list are read again after this many ms. */
const movingMs = 5000;
/** The most rows that the server returns at once. */
const mostRows = 200;

/** The page of a list that is shown. */
export interface RecordPage<Row> {
  readonly list: ListState;
  /** Undefined = not read yet. */
  readonly rows: readonly Row[] | undefined;
  /** The number of records on all pages. */
  readonly total: number;
  readonly error: CombinedError | undefined;
  /** Reads the page again after an action of the viewer, and shows the result at once. */
  readonly refetch: () => void;
  /** New rows that wait while the pointer or the focus is in the list. */
  readonly waiting: number;
  readonly release: () => void;
  readonly hold: (isHeld: boolean) => void;
  readonly selection: SelectedRows<Row>;
  /** Selects the records of all pages. */
  readonly selectAll: () => void;
  /** Called with each change of a record. Changes of rows in view are already in the cache; others can change which rows are in view. */
  readonly report: (id: string, exists: boolean) => void;
}

interface RecordPageOptions<Data, Variables extends AnyVariables, Row> {
  readonly list: ListState;
  readonly query: TypedDocumentNode<Data, Variables>;
  /** The query's variables for a part of the list. */
  readonly variables: (offset: number, limit: number) => Variables;
  readonly pageOf: (data: Data) => { readonly rows: readonly Row[]; readonly total: number };
}

/** Reads a page of a list and keeps it up to date. */
export function useRecordPage<Data, Variables extends AnyVariables, Row extends { readonly id: string }>(
  { list, query, variables, pageOf }: RecordPageOptions<Data, Variables, Row>,
): RecordPage<Row> {
  const ask = useAsk();
  const { data, question, error, refetch } = useData(query, variables(list.offset, pageRows), { everyMs: movingMs });
  const refetchSoon = useThrottled(refetch);
  const [deleted, setDeleted] = useState<ReadonlySet<string>>(new Set());
  const { rows: current, total } = data === undefined ? { rows: undefined, total: 0 } : pageOf(data);
  const { rows, waiting, release, hold } = useSteadyRows(current, question, deleted);
  const selection = useSelection(rows ?? []);
  async function selectAll(): Promise<void> {
    for (let offset = 0; offset < total; offset += mostRows) {
      const { data: more } = await ask(query, variables(offset, mostRows));
      const found = more === undefined ? [] : pageOf(more).rows;
      if (found.length === 0) return;
      selection.add(found);
    }
  }
  return {
    list,
    rows,
    total,
    error,
    refetch() {
      release();
      refetch();
    },
    waiting,
    release,
    hold,
    selection,
    selectAll: () => void selectAll(),
    report(id, exists) {
      if (!exists && rows?.some((row) => row.id === id) === true) setDeleted((before) => new Set([...before, id]));
      if (!exists || current?.every((row) => row.id !== id) !== false) refetchSoon();
    },
  };
}

/** The part of a query's variables that the state of a list decides. @param fields that the server sorts by; @param otherwise the field to sort by if the address names none of them */
export function sortOf<Field extends string>(
  list: ListState,
  fields: readonly Field[],
  otherwise: Field,
): { readonly field: Field; readonly direction: 'ASC' | 'DESC' } {
  return { field: fields.find((field) => field === list.sort) ?? otherwise, direction: list.isDescending ? 'DESC' : 'ASC' };
}

/** The part of a list's filter that chooses the owner. */
export function ownerOf(list: ListState): { readonly unassigned?: boolean; readonly ownerId?: string } {
  const owner = list.get('owner');
  return owner === 'none' ? { unassigned: true } : owner === '' ? {} : { ownerId: owner };
}
