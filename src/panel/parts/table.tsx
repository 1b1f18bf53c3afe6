import { type ReactNode, useRef } from 'react';
import { useLanguage } from '../language/language.tsx';
import { Icon } from './icon.tsx';
import type { ListState } from './list-state.ts';
import { useRowKeys } from './row-keys.ts';

/** A column of a list. */
export interface Column<Row> {
  readonly key: string;
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** The field to sort by; absent = cannot be sorted by. */
  readonly sort?: string;
  readonly isNumber?: boolean;
  /** When the column leaves a narrow table: 4 first, 1 last; absent = never. */
  readonly leaves?: 1 | 2 | 3 | 4;
  /** The state of the row: stays on a phone. */
  readonly isState?: boolean;
}

/** The selected rows of a list, by id. They stay selected on other pages. */
export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly toggle: (ids: readonly string[], isSelected: boolean) => void;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly rows: readonly Row[] | undefined;
  readonly columns: ReadonlyArray<Column<Row>>;
  readonly idOf: (row: Row) => string;
  readonly nameOf: (row: Row) => string;
  readonly list?: ListState;
  readonly selection?: Selection;
  /** The menu of a row; undefined = it has none. */
  readonly menu?: (row: Row) => ReactNode;
  /** Edits a row; undefined = nothing does. */
  readonly onEdit?: (id: string) => void;
  /** Called when the pointer or the focus comes into the rows, or leaves them. */
  readonly onHold?: (isHeld: boolean) => void;
}

/** A table of records. The first column is the row's header. While rows are undefined, it shows that they are being loaded. */
export function Table<Row>({ caption, rows, columns, idOf, nameOf, list, selection, menu, onEdit, onHold }: TableProps<Row>) {
  const { t } = useLanguage();
  const ids = rows?.map(idOf) ?? [];
  const body = useRef<HTMLTableSectionElement>(null);
  useRowKeys(body, ids, { selection, onEdit });
  const allSelected = ids.length > 0 && ids.every((id) => selection?.ids.has(id) === true);
  return (
    <div className='table-wrap'>
      <table className='table stack-rows' role='table'>
        <caption className='visually-hidden'>{caption}</caption>
        <thead role='rowgroup'>
          <tr role='row'>
            {selection && (
              <th scope='col' className='pick' role='columnheader'>
                <input
                  type='checkbox'
                  aria-label={t.list.selectPage}
                  checked={allSelected}
                  onChange={(event) => selection.toggle(ids, event.target.checked)}
                />
              </th>
            )}
            {columns.map((column) => <Head key={column.key} column={column} list={list} />)}
            {menu && (
              <th scope='col' className='more' role='columnheader'>
                <span className='visually-hidden'>{t.list.actions}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody
          ref={body}
          role='rowgroup'
          data-moves
          onPointerEnter={() => onHold?.(true)}
          onPointerLeave={({ currentTarget }) => onHold?.(currentTarget.contains(document.activeElement))}
          onFocus={() => onHold?.(true)}
          onBlur={({ currentTarget, relatedTarget }) => onHold?.(currentTarget.contains(relatedTarget) || currentTarget.matches(':hover'))}
        >
          {rows?.map((row) => {
            const id = idOf(row);
            return (
              <tr key={id} role='row' data-row={id} tabIndex={-1} aria-selected={selection && selection.ids.has(id)}>
                {selection && (
                  <td className='pick' role='cell'>
                    <input
                      type='checkbox'
                      aria-label={t.list.select(nameOf(row))}
                      checked={selection.ids.has(id)}
                      onChange={(event) => selection.toggle([id], event.target.checked)}
                    />
                  </td>
                )}
                {columns.map((column, at) =>
                  at === 0
                    ? <th key={column.key} scope='row' role='rowheader'>{column.cell(row)}</th>
                    : <td key={column.key} role='cell' className={classOf(column)}>{column.cell(row)}</td>
                )}
                {menu && <td className='more' role='cell'>{menu(row)}</td>}
              </tr>
            );
          }) ?? <Loading columns={columns.length + (selection ? 1 : 0) + (menu ? 1 : 0)} />}
        </tbody>
      </table>
    </div>
  );
}

function Head<Row>({ column, list }: { readonly column: Column<Row>; readonly list: ListState | undefined }) {
  const { sort, head } = column;
  if (sort === undefined || list === undefined) return <th scope='col' role='columnheader' className={classOf(column)}>{head}</th>;
  const isSorted = list.sort === sort;
  return (
    <th
      scope='col'
      role='columnheader'
      className={classOf(column)}
      aria-sort={isSorted ? (list.isDescending ? 'descending' : 'ascending') : undefined}
    >
      <button type='button' className='sort' onClick={() => list.sortBy(sort)}>
        <span>{head}</span>
        <Icon name={isSorted && list.isDescending ? 'down' : 'up'} />
      </button>
    </th>
  );
}

function Loading({ columns }: { readonly columns: number }) {
  const { t } = useLanguage();
  return (
    <tr role='row'>
      <td role='cell' colSpan={columns}>
        <span className='skeleton w-70' />
        <span className='visually-hidden'>{t.list.loading}</span>
      </td>
    </tr>
  );
}

function classOf<Row>({ isNumber = false, isState = false, leaves }: Column<Row>): string | undefined {
  const names = [isNumber ? 'num' : '', isState ? 'st' : '', leaves === undefined ? '' : `p${leaves}`].filter((name) => name !== '');
  return names.length === 0 ? undefined : names.join(' ');
}
