import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Icon } from '../../parts/icon.tsx';

/** An entry of the audit log. */
export const auditEntry = graphql(`
  fragment AuditEntryFields on AuditEntry { id at callerKind callerId callerName method tokenName address resource resourceId resourceName action before after }
`);

/** A field that differs. */
interface Difference {
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** An entry: who did what, and the difference of each field. @param onOnly shows the entries of this record only */
export function Entry({ of, onOnly }: { readonly of: FragmentType<typeof auditEntry>; readonly onOnly?: (resource: string, id: string) => void }) {
  const { t, f } = useLanguage();
  const entry = unmask(auditEntry, of);
  const name = entry.resourceName ? t.audit.named(entry.resourceName) : `#${entry.resourceId}`;
  const differences = differencesOf(entry.before, entry.after);
  const who = [t.audit.callers[entry.callerKind], entry.callerName ?? entry.callerId].filter(Boolean).join(' ');
  const method = entry.tokenName ? t.audit.byToken(entry.tokenName) : entry.method && t.audit.methods[entry.method];
  const how = [method, entry.address].filter(Boolean).map((part) => ` · ${part}`).join('');
  return (
    <details className='entry'>
      <summary>
        <Icon name='right' />
        <time className='muted small' dateTime={entry.at} title={f.moment(entry.at)}>{f.clock(entry.at)}</time>
        <span className='said'>
          {entry.resource === 'FAILED_ATTEMPT'
            ? t.audit.failedAttempt(name)
            : t.audit.entry(t.audit.resources[entry.resource], name, t.audit.actions[entry.action])}
        </span>
        <span className='who'>
          {who}
          <span className='hide-narrow'>{how}</span>
        </span>
      </summary>
      <div className='entry-body'>
        {differences.length === 0 ? <p className='small muted'>{t.audit.noValues}</p> : (
          <table className='diff'>
            <thead>
              <tr>
                <th scope='col'>{t.audit.field}</th>
                <th scope='col'>{t.audit.before}</th>
                <th scope='col'>{t.audit.after}</th>
              </tr>
            </thead>
            <tbody>
              {differences.map(({ field, before, after }) => (
                <tr key={field}>
                  <th scope='row'>{field}</th>
                  <td>{before === undefined ? <span className='muted'>{t.audit.unset}</span> : <del>{before}</del>}</td>
                  <td>{after === undefined ? <span className='muted'>{t.audit.unset}</span> : <ins>{after}</ins>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {onOnly && (
          <p>
            <button type='button' className='link small' onClick={() => onOnly(entry.resource, entry.resourceId)}>{t.audit.onlyThis}</button>
          </p>
        )}
      </div>
    </details>
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields whose values differ; of a new or deleted record, those that are set. */
function differencesOf(before: unknown, after: unknown): readonly Difference[] {
  const [old, now] = [isRecord(before) ? before : {}, isRecord(after) ? after : {}];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .map((field) => ({ field, before: textOf(old[field]), after: textOf(now[field]) }))
    .filter(({ before: first, after: second }) => first !== second);
}

function textOf(value: unknown): string | undefined {
  if (value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return undefined;
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join('\n') : JSON.stringify(value);
}
