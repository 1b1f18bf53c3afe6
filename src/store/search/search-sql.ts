import type { Dialect } from '../migrations.ts';
import { Binder, equals, idsOf, type HotQuery } from '../hot/binder.ts';
import { foldCase, numberIn, searched, type Condition, type Search, type SearchedTable } from './search.ts';
import { LONG_CHARACTERS, SEGMENT_BITS } from './segment.ts';

/**
 * The query for the ids of all rows that contain a text and meet the conditions. On SQLite it checks a part of the table, and ends with two placeholders: the id to start
 * after, and the number of rows to check. It runs repeatedly, since a statement can't be interrupted.
 * @param among the rows to check; absent = all
 */
export function searchSql(dialect: Dialect, { table, text, withoutSecrets, where, conditions = [] }: Search, among?: Int32Array): HotQuery {
  const { open, secret, numbers } = searched[table];
  const binder = new Binder(dialect);
  const wanted = conditions.map((condition) => conditionSql(condition, binder));
  if (text !== '') {
    const holds = [...open, ...withoutSecrets ? [] : secret].map((column) => contains(dialect, column, text, binder));
    const number = numberIn(text);
    if (number !== undefined) holds.push(...numbers.map((column) => `"${column}" = ${binder.bind(number)}`));
    wanted.push(`(${holds.join(' OR ')})`);
  }
  const found = wanted.join(' AND ');
  const filter = Object.entries(where).map(([column, value]) => equals(binder, column, value));
  if (among !== undefined) filter.push(`id IN (${idsOf(binder, Array.from(among))})`);
  if (dialect === 'postgresql') {
    return {
      text: `SELECT coalesce(json_agg(id ORDER BY id), '[]')::text AS ids FROM "${table}" WHERE ${[...filter, found].join(' AND ')}`,
      values: binder.values,
    };
  }
  const part = `SELECT id, (${found}) AS found FROM "${table}" WHERE ${[...filter, 'id > ?'].join(' AND ')} ORDER BY id LIMIT ?`;
  // As text, to avoid JSON inside JSON.
  return { text: `SELECT count(*) AS looked, max(id) AS last, '' || json_group_array(id) FILTER (WHERE found) AS ids FROM (${part})`, values: binder.values };
}

function conditionSql(condition: Condition, binder: Binder): string {
  if ('ids' in condition) return `id IN (${idsOf(binder, condition.ids)})`;
  if ('notIds' in condition) return `id NOT IN (${idsOf(binder, condition.notIds)})`;
  const values = condition.values?.values();
  const sql = condition.sql.replaceAll('?', () => binder.bind(values?.next().value ?? null));
  return condition.orIds === undefined ? `(${sql})` : `(${sql} OR id IN (${idsOf(binder, condition.orIds)}))`;
}

/** The condition that a column contains a text, in any case. */
export function contains(dialect: Dialect, column: string, search: string, binder: Binder): string {
  if (dialect === 'postgresql') return `strpos(lower("${column}"), lower(${binder.bind(search)})) > 0`;
  // LIKE takes time quadratic in the text's length for near matches. SQLite's lower() is the fastest, but
  // folds ASCII only; `fold` handles all alphabets and calls back into JavaScript for each row.
  const ascii = /^[\0-\x7f]*$/.test(search);
  return `instr(${ascii ? 'lower' : 'fold'}("${column}"), ${binder.bind(foldCase(search))}) > 0`;
}

/** The query for the stamps of a table's segments, as one JSON text: `[[segment, stamp], ...]`. */
export function stampsSql(dialect: Dialect, table: SearchedTable): HotQuery {
  const binder = new Binder(dialect);
  const all = dialect === 'sqlite' ? `'' || json_group_array(json_array(segment, stamp))` : `coalesce(json_agg(json_build_array(segment, stamp)), '[]')::text`;
  return { text: `SELECT ${all} AS json FROM "SearchSegment" WHERE resource = ${binder.bind(table)}`, values: binder.values };
}

/** The query for the rows of a segment, as `Segment` needs them: on SQLite a row for each, on PostgreSQL all in one JSON text. */
export function rowsSql(dialect: Dialect, table: SearchedTable, segment: number): HotQuery {
  const { open, secret, numbers, filters } = searched[table];
  const binder = new Binder(dialect);
  const texts = [...open, ...secret];
  const long = `${texts.map((column) => `length("${column}")`).join(' + ')} > ${LONG_CHARACTERS}`;
  const columns = [
    'id',
    `CASE WHEN ${long} THEN 1 ELSE 0 END AS long`,
    ...texts.map((column) => `CASE WHEN ${long} THEN '' ELSE "${column}" END AS "the ${column}"`),
    ...numbers.map((column) => `"${column}" AS "number ${column}"`),
    ...filters.map((column) => `"${column}" AS "by ${column}"`),
  ];
  const rows = `SELECT ${columns.join(', ')} FROM "${table}" WHERE id BETWEEN ${binder.bind(segment * 2 ** SEGMENT_BITS)} AND ${
    binder.bind((segment + 1) * 2 ** SEGMENT_BITS - 1)
  } ORDER BY id`;
  if (dialect === 'sqlite') return { text: rows, values: binder.values };
  const names = [
    'id',
    'long',
    ...texts.map((column) => `"the ${column}"`),
    ...numbers.map((column) => `"number ${column}"`),
    ...filters.map((column) => `"by ${column}"`),
  ];
  return { text: `SELECT coalesce(json_agg(json_build_array(${names.join(', ')})), '[]')::text AS json FROM (${rows}) AS r`, values: binder.values };
}
