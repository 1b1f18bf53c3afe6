import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';

const choices = graphql(`
  query TunnelChoices($filter: TunnelFilter) { tunnels(filter: $filter, limit: 200) { rows { id remark port mode client { id remark } } } }
`);

/** Chooses a tunnel. @param clientId only of this client; blank = of all */
export function TunnelChoice({ value, clientId, isWrong, onChange }: {
  readonly value: string;
  readonly clientId: string;
  readonly isWrong: boolean;
  readonly onChange: (id: string) => void;
}) {
  const { t } = useLanguage();
  const { data } = useData(choices, { filter: clientId === '' ? null : { clientId } });
  const rows = data?.tunnels.rows ?? [];
  return (
    <select
      className='select'
      id='field-subject'
      value={value}
      aria-invalid={isWrong || undefined}
      aria-describedby={isWrong ? 'subject-error' : undefined}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value=''>{t.diagnosis.chooseTunnel}</option>
      {value !== '' && rows.every(({ id }) => id !== value) && <option value={value}>{t.tunnels.nameless(value)}</option>}
      {rows.map(({ id, remark, port, mode, client }) => (
        <option key={id} value={id}>
          {[remark || t.tunnels.nameless(id), `${t.tunnels.short[mode]}${port ? ` :${port}` : ''}`, client.remark || t.clients.nameless(client.id)].join(' · ')}
        </option>
      ))}
    </select>
  );
}
