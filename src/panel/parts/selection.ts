import { useState } from 'react';
import type { Selection } from './table.tsx';

/** The selected records of a list, also those of other pages. */
export interface SelectedRows<Row> extends Selection {
  readonly rows: readonly Row[];
  readonly add: (rows: readonly Row[]) => void;
  readonly clear: () => void;
}

/** Remembers selected records. @param visible the rows of the page that is shown */
export function useSelection<Row extends { readonly id: string }>(visible: readonly Row[]): SelectedRows<Row> {
  const [selected, setSelected] = useState<ReadonlyMap<string, Row>>(new Map());
  const known = new Map([...selected, ...visible.map((row) => [row.id, row] as const)]);
  const add = (rows: readonly Row[]): void => setSelected((before) => new Map([...before, ...rows.map((row) => [row.id, row] as const)]));
  return {
    ids: new Set(selected.keys()),
    rows: [...selected.keys()].flatMap((id) => known.get(id) ?? []),
    toggle(ids, isSelected) {
      if (isSelected) return add(ids.flatMap((id) => known.get(id) ?? []));
      setSelected((before) => new Map([...before].filter(([id]) => !ids.includes(id))));
    },
    add,
    clear: () => setSelected(new Map()),
  };
}
