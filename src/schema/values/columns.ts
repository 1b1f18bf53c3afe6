/** How a column of a record is used. Each resource has a table of all its columns (`columns.ts`), and the compiler checks the other files against it. */
export interface ColumnUse {
  /** How the audit log shows it: its value, only whether it is set and has changed, or not at all (for values that the program counts). */
  readonly audit: 'value' | 'secret' | 'none';
  /** The field of the GraphQL type that returns it or is derived from it; null = none. */
  readonly shown: string | null;
  /** The input field that sets it; null = none. */
  readonly input: string | null;
}

/** The table of a record's columns. @template More further properties of a resource's columns */
export type ColumnUses<Row, More = unknown> = Readonly<Record<keyof Row, ColumnUse & More>>;

type Uses = Readonly<Record<string, ColumnUse>>;

/** The columns whose use extends `Use`. */
export type ColumnsHaving<Of, Use> = { readonly [Column in keyof Of]: Of[Column] extends Use ? Column : never }[keyof Of];

/** Checks the fields of a GraphQL type: all fields in the table must exist; others may. */
export type ShownFields<Of extends Uses> = Readonly<Record<NonNullable<Of[keyof Of]['shown']>, unknown> & Record<string, unknown>>;

/** The input fields that set the columns. */
export type InputFieldsOf<Of extends Uses> = NonNullable<Of[keyof Of]['input']>;

/** The columns that the inputs set. */
export type InputColumns<Of extends Uses> = Exclude<keyof Of, ColumnsHaving<Of, { readonly input: null }>>;

/** The columns of a row for which `flag` is true in a table. */
export function columnsHaving<Row extends object, Of extends Readonly<Record<string, Readonly<Record<string, unknown>>>>, Flag extends string>(
  row: Row,
  uses: Of,
  flag: Flag,
): Pick<Row, ColumnsHaving<Of, Readonly<Record<Flag, true>>> & keyof Row> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the filter is what the type says
  return Object.fromEntries(Object.entries(row).filter(([column]) => uses[column]?.[flag] === true)) as Pick<
    Row,
    ColumnsHaving<Of, Readonly<Record<Flag, true>>> & keyof Row
  >;
}
