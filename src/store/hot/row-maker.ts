/** A column of rows that were read as arrays. */
export interface MadeColumn {
  readonly name: string;
  /** Converts a value that is not null; absent = the value stays as it is. */
  readonly decode?: ((value: never) => unknown) | undefined;
}

/** Makes objects of rows that were read as arrays. */
export type MakeRows = (rows: readonly (readonly unknown[])[]) => Array<Record<string, unknown>>;

/**
 * Generates the function that converts arrays to rows, as an object literal with all columns: setting properties one by one takes seven times as long, and as
 * much again for garbage collection. The names are those of the columns in our own migrations.
 */
export function rowMaker(columns: readonly MadeColumn[]): MakeRows {
  const members = columns.map(({ name, decode }, index) => {
    const value = decode ? `row[${index}] === null ? null : decoders[${index}](row[${index}])` : `row[${index}]`;
    return `${JSON.stringify(name)}: ${value}`;
  });
  // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-type-assertion
  const make = new Function('decoders', `return (rows) => rows.map((row) => ({ ${members.join(', ')} }));`) as (decoders: unknown) => MakeRows;
  return make(columns.map(({ decode }) => decode));
}
