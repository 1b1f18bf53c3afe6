import { Link } from 'wouter';
import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import type { AuditResource } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { Empty } from '../../parts/banner.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Entry } from './entry.tsx';

const changes = graphql(`
  query RecordChanges($resource: AuditResource!, $id: ID!) {
    auditEntries(filter: { resource: $resource, resourceId: $id }, limit: 20) { total rows { id at ...AuditEntryFields } }
  }
`);

/** The newest changes of a record, for administrators. */
export function RecordChanges({ resource, id }: { readonly resource: AuditResource; readonly id: string }) {
  const { t, f } = useLanguage();
  const { data } = useData(changes, { resource, id });
  const rows = data?.auditEntries?.rows;
  if (rows === undefined) return <Loading />;
  if (rows.length === 0) return <Empty icon='audit' title={t.audit.none} />;
  return (
    <>
      {rows.map((row, at) => {
        const day = f.day(row.at);
        const before = rows[at - 1];
        return (
          <div key={row.id}>
            {(before === undefined || f.day(before.at) !== day) && (
              <h3 className='day'>
                {day}
                <span className='muted'>{t.punctuation.brackets(f.zone)}</span>
              </h3>
            )}
            <Entry of={row} />
          </div>
        );
      })}
      <p className='card-foot'>
        <Link href={`/audit?what=${resource}&id=${id}`}>{t.audit.all}</Link>
      </p>
    </>
  );
}
