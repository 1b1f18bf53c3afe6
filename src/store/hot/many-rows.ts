import type { Dialect } from '../migrations.ts';
import type { HotQuery } from './binder.ts';

/** A query for hundreds of rows or more, by ascending id. */
export interface ManyRowsQuery extends Pick<HotQuery, 'text' | 'values'> {
  /** Columns whose values are read for every row; the first one is the id. */
  readonly columns: readonly string[];
  /** Columns of which most rows have the same value, by that value: they are read for the other rows only. */
  readonly rare: Readonly<Record<string, string | boolean | null>>;
}

/** Rows that are made while they are used, so that no garbage collection copies those that are no longer needed. */
export interface ManyRows<Row> {
  readonly ids: readonly number[];
  readonly rows: Iterable<Row>;
}

/** What converts the value of a column that is not null; undefined = the value stays as it is. */
export type Decode = ((value: never) => unknown) | undefined;

/** How rows are read: a list of the values of each column, then a list of the rows with rare values, each with its id before them. */
export type Columns = ReadonlyArray<readonly unknown[]>;

/**
 * The query for the {@link Columns} as one JSON text. Writing a JSON array for each row takes the database several times as long, and so does parsing it:
 * most of the values would be the same in every row.
 */
export function manyRowsSql(dialect: Dialect, { text, columns, rare }: Omit<ManyRowsQuery, 'values'>): string {
  const [list, collected] = dialect === 'sqlite' ? ['json_array', 'json_group_array'] : ['json_build_array', 'json_agg'];
  const [id = ''] = columns;
  const names = Object.keys(rare);
  const isRare = names.map((name) => `q."${name}" ${rare[name] === null ? 'IS NOT NULL' : `<> ${literal(rare[name])}`}`).join(' OR ');
  const rows = `${collected}(${list}(${[id, ...names].map((name) => `q."${name}"`).join(', ')})) FILTER (WHERE ${isRare})`;
  return `SELECT ${list}(${[...columns.map((name) => `${collected}(q."${name}")`), rows].join(', ')}) AS json FROM (${text}) q`;
}

function literal(value: string | boolean | null | undefined): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/** Makes rows of columns. */
export type MakeManyRows = (columns: Columns) => Iterable<Record<string, unknown>>;

/**
 * Generates the function that makes rows, as an object literal with all columns (see `rowMaker`). The names are those of the columns in our own migrations.
 * @param decodes by name
 */
export function manyRowsMaker({ columns, rare }: Omit<ManyRowsQuery, 'text' | 'values'>, decodes: ReadonlyMap<string, Decode>): MakeManyRows {
  const names = Object.keys(rare);
  const all = [...columns, ...names];
  const value = (from: string, name: string): string =>
    decodes.get(name) === undefined ? from : `${from} === null ? null : decode${all.indexOf(name)}(${from})`;
  const members = [
    ...columns.map((name, index) => `${JSON.stringify(name)}: ${value(`c${index}[i]`, name)}`),
    ...names.map((name, index) => `${JSON.stringify(name)}: rare[${index + 1}]`),
  ];
  const rareValues = names.map((name, index) => value(`row[${index + 1}]`, name));
  // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-type-assertion
  const make = new Function(
    'decodes',
    'usual',
    `const [${all.map((_, index) => `decode${index}`).join(', ')}] = decodes;
    const rareValues = (row) => [row[0], ${rareValues.join(', ')}];
    return function* ([${columns.map((_, index) => `c${index}`).join(', ')}, others]) {
      let next = 0;
      for (let i = 0; i < c0.length; i++) {
        const rare = next < others.length && others[next][0] === c0[i] ? rareValues(others[next++]) : usual;
        yield { ${members.join(', ')} };
      }
    };`,
  ) as (decodes: unknown, usual: unknown) => MakeManyRows;
  return make(all.map((name) => decodes.get(name)), [0, ...names.map((name) => rare[name])]);
}
