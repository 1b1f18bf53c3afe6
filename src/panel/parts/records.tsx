import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useLanguage } from '../language/language.tsx';
import { Empty } from './banner.tsx';
import { BulkBar } from './bulk.tsx';
import { Failure } from './failure.tsx';
import { Icon, type IconName } from './icon.tsx';
import type { ListState } from './list-state.ts';
import { type ListName, Pager, Popover, Search, useColumns } from './list-tools.tsx';
import { type MenuEntry, RowMenu } from './menu.tsx';
import { NothingMatches } from './nothing-matches.tsx';
import { PageHead } from './page-head.tsx';
import type { RecordActions } from './record-actions.tsx';
import type { RecordPage } from './record-page.ts';
import { type Column, type Selection, Table } from './table.tsx';

/** A kind of records with a list of its own: clients, tunnels, hosts, users. */
export interface Records<Row> {
  /** The name of the list: its address, and what the browser keeps its columns by. */
  readonly name: ListName;
  readonly icon: IconName;
  readonly texts: {
    readonly title: string;
    readonly subtitle: string;
    readonly create: string;
    readonly searchHint: string;
    readonly noneTitle: string;
    readonly noneText: string;
  };
  readonly columns: ReadonlyArray<Column<Row>>;
  /** The columns that are hidden at first. */
  readonly hidden?: readonly string[];
  readonly nameOf: (row: Row) => string;
  /** The address of the page where a row is edited. */
  readonly editPath: (row: Row) => string;
  /** The menu of a row, without the entry to edit it. @param onDone called after each of its actions, with whether something was done */
  readonly menu: (row: Row, onDone: (isDone: boolean) => void) => readonly MenuEntry[];
  /** What can be done with several records at once; absent = nothing. */
  readonly actions?: RecordActions<Row>;
  /** Whether the viewer may create, change and delete. */
  readonly mayChange: boolean;
}

/**
 * A page with a list: search, filters, columns, paging, and actions for the selected records.
 * @param toolbar next to the search field: the states, and other filters that are always shown
 * @param filters the rarer filters, in a window of their own
 */
export function RecordList<Row extends { readonly id: string }>({ records, page, toolbar, filters }: {
  readonly records: Records<Row>;
  readonly page: RecordPage<Row>;
  readonly toolbar: ReactNode;
  readonly filters?: ReactNode;
}) {
  const { t } = useLanguage();
  const [, navigate] = useLocation();
  const { name, icon, texts, actions, mayChange } = records;
  const { list, rows, total, selection, refetch } = page;
  const [columns, chooser] = useColumns(name, records.columns, records.hidden);
  const create = mayChange && <CreateLink className='btn btn-primary' href={`/${name}/new`}>{texts.create}</CreateLink>;
  const finish = (isDone: boolean): void => {
    if (!isDone) return;
    selection.clear();
    refetch();
  };
  const act = (action: (rows: readonly Row[]) => Promise<boolean>): void => void action(selection.rows).then(finish);
  return (
    <>
      <PageHead title={texts.title} actions={create}>{texts.subtitle}</PageHead>
      <Failure error={page.error} onRetry={refetch} />
      <section className='card' aria-label={texts.title}>
        <div className='toolbar'>
          <Search list={list} label={t.list.search} placeholder={texts.searchHint} />
          {toolbar}
          <div className='toolbar-end'>
            {filters !== undefined && <Popover icon='filter' label={t.list.filters}>{filters}</Popover>}
            {chooser}
          </div>
        </div>
        {rows?.length !== 0 || total > 0
          ? <RecordTable records={records} rows={rows} columns={columns} onDone={finish} list={list} onHold={page.hold} {...(actions && { selection })} />
          : list.isFiltered
          ? <NothingMatches onClear={() => navigate(`/${name}`)} />
          : <Empty icon={icon} title={texts.noneTitle} action={create}>{texts.noneText}</Empty>}
        <Pager list={list} total={total} waiting={page.waiting} onRelease={page.release} />
      </section>
      {actions && (
        <BulkBar selection={selection} total={total} onSelectAll={page.selectAll}>
          <button type='button' className='btn btn-s' onClick={() => act(actions.start)}>{actions.verbs.start}</button>
          <button type='button' className='btn btn-s' onClick={() => act(actions.stop)}>{actions.verbs.stop}</button>
          <button type='button' className='btn btn-s btn-danger' onClick={() => act(actions.remove)}>{t.actions.delete}</button>
        </BulkBar>
      )}
    </>
  );
}

/** The tunnels or hosts of a client, on its page. */
export function RecordsOfClient<Row extends { readonly id: string }>({ records, page: { rows, error, refetch }, clientId }: {
  readonly records: Records<Row>;
  readonly page: Pick<RecordPage<Row>, 'rows' | 'error' | 'refetch'>;
  readonly clientId: string;
}) {
  const { texts, icon, mayChange } = records;
  const [columns] = useColumns(records.name, records.columns, records.hidden);
  const create = mayChange && <CreateLink className='btn' href={`/${records.name}/new?client=${clientId}`}>{texts.create}</CreateLink>;
  const finish = (isDone: boolean): void => {
    if (isDone) refetch();
  };
  if (rows?.length === 0) return <Empty icon={icon} title={texts.noneTitle} action={create}>{texts.noneText}</Empty>;
  return (
    <>
      <Failure error={error} onRetry={refetch} />
      <RecordTable records={records} rows={rows} columns={columns} onDone={finish} />
      {create && <div className='card-foot'>{create}</div>}
    </>
  );
}

function RecordTable<Row extends { readonly id: string }>({ records, rows, columns, onDone, selection, ...more }: {
  readonly records: Records<Row>;
  readonly rows: readonly Row[] | undefined;
  readonly columns: ReadonlyArray<Column<Row>>;
  readonly onDone: (isDone: boolean) => void;
  readonly list?: ListState;
  readonly selection?: Selection;
  readonly onHold?: (isHeld: boolean) => void;
}) {
  const { t } = useLanguage();
  const [, navigate] = useLocation();
  const { texts, nameOf, editPath, menu, mayChange } = records;
  const change = (row: Row): MenuEntry => ({ label: t.actions.change, onChoose: () => navigate(editPath(row)) });
  return (
    <Table
      caption={texts.title}
      rows={rows}
      columns={columns}
      idOf={({ id }) => id}
      nameOf={nameOf}
      {...more}
      {...(mayChange && {
        selection,
        menu: (row: Row) => <RowMenu name={nameOf(row)} entries={[change(row), ...menu(row, onDone)]} />,
        onEdit(id: string) {
          const row = rows?.find((each) => each.id === id);
          if (row !== undefined) navigate(editPath(row));
        },
      })}
    />
  );
}

function CreateLink({ className, href, children }: { readonly className: string; readonly href: string; readonly children: string }) {
  return (
    <Link className={className} href={href}>
      <Icon name='plus' />
      {children}
    </Link>
  );
}
