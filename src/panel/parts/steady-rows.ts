import { useRef, useState } from 'react';

/** The rows of a moving list, in an order that stays while somebody points at it. */
export interface SteadyRows<Row> {
  readonly rows: readonly Row[] | undefined;
  /** How many new rows wait until the order may change. */
  readonly waiting: number;
  /** Shows the list as it is now. */
  readonly release: () => void;
  /** Keeps the order from now on, or no longer. */
  readonly hold: (isHeld: boolean) => void;
}

/**
 * Keeps the order of a list while the pointer or the focus is in it: no row moves away below them. Rows that left the page meanwhile stay with their
 * last values, new ones wait; deleted rows leave.
 * @param question what the rows answer: the first rows of another question are shown as they are
 */
export function useSteadyRows<Row extends { readonly id: string }>(
  rows: readonly Row[] | undefined,
  question: unknown,
  deleted: ReadonlySet<string>,
): SteadyRows<Row> {
  const [isHeld, setHeld] = useState(false);
  const [released, setReleased] = useState<readonly Row[]>();
  const shown = useRef<{ readonly question: unknown; readonly rows: readonly Row[] }>(undefined);
  const common = { release: () => setReleased(rows), hold: setHeld };
  if (rows === undefined) return { ...common, rows, waiting: 0 };
  const current = new Map(rows.map((row) => [row.id, row]));
  const before = shown.current;
  // After an action of one's own, the next different rows are shown at once.
  const isReleased = released !== undefined;
  if (!isHeld || isReleased || before === undefined || before.question !== question) {
    shown.current = { question, rows };
    if (isReleased && !hasSameIds(released, rows)) setReleased(undefined);
    return { ...common, rows, waiting: 0 };
  }
  const kept = before.rows.filter(({ id }) => !deleted.has(id)).map((row) => current.get(row.id) ?? row);
  shown.current = { question, rows: kept };
  const keptIds = new Set(kept.map(({ id }) => id));
  return { ...common, rows: kept, waiting: rows.filter(({ id }) => !keptIds.has(id)).length };
}

function hasSameIds<Row extends { readonly id: string }>(one: readonly Row[], other: readonly Row[]): boolean {
  return one.length === other.length && one.every(({ id }, at) => id === other[at]?.id);
}
