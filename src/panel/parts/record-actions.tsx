import type { CombinedError } from 'urql';
import { useLanguage } from '../language/language.tsx';
import { type BulkAnswer, changeAll } from './bulk.tsx';
import { type Question, useConfirm } from './confirm.tsx';
import type { MenuEntry } from './menu.tsx';
import { useReport, useToast } from './toast.tsx';

type Kind = 'start' | 'stop' | 'delete';
type Run = (id: string) => Promise<{ readonly error?: CombinedError }>;

/** What starting and stopping is called: clients are enabled and disabled. */
type Verbs = Readonly<Record<'start' | 'stop', string>>;

/** What can be done with records of a kind. Each action resolves with whether something was done. */
export interface RecordActions<Row> {
  readonly verbs: Verbs;
  readonly start: (rows: readonly Row[]) => Promise<boolean>;
  readonly stop: (rows: readonly Row[]) => Promise<boolean>;
  readonly remove: (rows: readonly Row[]) => Promise<boolean>;
  /** The entries of a record's menu. @param onDone called after it was started or stopped @param onRemoved called after it was deleted; absent = onDone */
  readonly entries: (
    row: Row,
    onDone: (isDone: boolean) => void,
    onRemoved?: (isDone: boolean) => void,
  ) => Readonly<Record<'startOrStop' | 'resetTraffic' | 'remove', MenuEntry>>;
}

/** The actions on clients, tunnels or hosts. @param change changes several records in one request @param questions what is asked before records are stopped or deleted */
export function useRecordActions<Row extends { readonly id: string; readonly enabled: boolean }>({ change, resetTraffic, texts, verbs, questions }: {
  readonly change: (ids: string[], kind: Kind) => Promise<BulkAnswer>;
  readonly resetTraffic: Run;
  readonly texts: { readonly done: Readonly<Record<Kind, (count: number) => string>>; readonly notDone: (count: number, reason: string) => string };
  readonly verbs: Verbs;
  readonly questions: Readonly<Record<'stop' | 'delete', (rows: readonly Row[]) => Question>> & { readonly reset: (row: Row) => Question };
}): RecordActions<Row> {
  const { t } = useLanguage();
  const ask = useConfirm();
  const toast = useToast();
  const report = useReport();

  async function forAll(rows: readonly Row[], kind: Kind): Promise<boolean> {
    const outcome = await changeAll(rows.map(({ id }) => id), (ids) => change(ids, kind), t);
    if (outcome === undefined) return false;
    const { done, failed } = outcome;
    const problems = [...failed].map(([reason, count]) => texts.notDone(count, reason)).join(t.punctuation.gap);
    const parts = [...(done > 0 || problems === '' ? [texts.done[kind](done)] : []), ...(problems === '' ? [] : [problems])];
    toast(parts.join(t.punctuation.stop), problems !== '');
    return done > 0;
  }
  async function reset(row: Row): Promise<void> {
    if (await ask(questions.reset(row))) report((await resetTraffic(row.id)).error, t.traffic.resetDone);
  }
  const start = (rows: readonly Row[]): Promise<boolean> => forAll(rows, 'start');
  const stop = async (rows: readonly Row[]): Promise<boolean> => await ask(questions.stop(rows)) && await forAll(rows, 'stop');
  const remove = async (rows: readonly Row[]): Promise<boolean> => await ask(questions.delete(rows)) && await forAll(rows, 'delete');
  return {
    verbs,
    start,
    stop,
    remove,
    entries: (row, onDone, onRemoved = onDone) => ({
      startOrStop: row.enabled
        ? { label: verbs.stop, onChoose: () => void stop([row]).then(onDone) }
        : { label: verbs.start, onChoose: () => void start([row]).then(onDone) },
      resetTraffic: { label: t.traffic.reset, onChoose: () => void reset(row) },
      remove: { label: t.actions.delete, isDanger: true, onChoose: () => void remove([row]).then(onRemoved) },
    }),
  };
}
