import type { CallParameters } from '../../support/api.ts';

/** A call and its whole answer; signed unless somebody else makes it. */
export interface Exchange {
  readonly path: string;
  readonly send: CallParameters;
  readonly answer: unknown;
  readonly as?: CallerName;
}

/** Who calls beside the administrator: the user alice by token, and the web login of client 1. */
export type CallerName = 'alice' | 'web login';

/** What a parameter does. One of `answer`, `makes`, `stored`, `after` has to differ from what happens without it. */
export interface ParameterCase {
  /** All that the call sends. */
  readonly send: CallParameters;
  readonly as?: CallerName;
  /** The whole answer; absent = that of the row. */
  readonly answer?: unknown;
  /** The record that it is about; absent = that of the row. */
  readonly id?: number;
  /** What of the record is another than `from`; objects are merged. */
  readonly makes?: Readonly<Record<string, unknown>>;
  /** The whole record; null = it is gone. */
  readonly record?: object | null;
  /** Columns of the stored row: what no answer shows. */
  readonly stored?: Readonly<Record<string, unknown>>;
  /** What else shows that it was done. */
  readonly after?: readonly Exchange[];
}

/** A call that is refused with a text, and changes nothing. */
export type Failure = readonly [msg: string | RegExp, send: CallParameters, status?: number, as?: CallerName];

/** What contract.md says of one row of the table of routes. */
export interface RowContract {
  /** Calls that are made first. */
  readonly given?: readonly Exchange[];
  /** The least that a success takes. */
  readonly send: CallParameters;
  /** The whole answer to it. */
  readonly answer: unknown;
  /** HTTP status of a success; absent = 200. */
  readonly status?: number;
  /** How the records of this row are seen. */
  readonly see?: { readonly path: string; readonly send: (id: number) => CallParameters; readonly answer: (record: object | null, id: number) => unknown };
  /** The record that `send` is about or makes. */
  readonly id?: number;
  /** That record as it is after `send`; null = gone. */
  readonly record?: object | null;
  /** That record without what the parameters of the cases do; absent = `record`. */
  readonly from?: object;
  /** Its table in the store. */
  readonly table?: 'Client' | 'User' | 'Tunnel' | 'Host';
  readonly after?: readonly Exchange[];
  /** A case for every parameter of the row, and for no other name. */
  readonly parameters: Readonly<Record<string, ParameterCase | readonly ParameterCase[]>>;
  /** Every text of a failure. */
  readonly failures: readonly Failure[];
  /** What a parameter that names a record is answered with when there is none. */
  readonly unknown?: Readonly<Record<string, string>>;
  /** The most characters of its texts. A text that isn't here has no length of its own: it is read by a form. */
  readonly most?: Readonly<Record<string, number>>;
  /** Parameters that take any text whatever, or whose own text for a bad one is among the failures. */
  readonly ownForm?: readonly string[];
}

/** The contract of some rows by their path. */
export type Contract = Readonly<Record<string, RowContract>>;

/** The answer of a write. */
export function wrote(msg: string, more: object = {}): object {
  return { status: 1, msg, ...more };
}

/** A record with differences: objects are merged, everything else replaced. */
export function merged(record: object, differences: Readonly<Record<string, unknown>>): object {
  const before = new Map<string, unknown>(Object.entries(record));
  return Object.fromEntries([
    ...before,
    ...Object.entries(differences).map(([name, value]) => {
      const old = before.get(name);
      return [name, isPlain(old) && isPlain(value) ? { ...old, ...value } : value] as const;
    }),
  ]);
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
