import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import type { ListState } from '../../parts/list-state.ts';

const owners = graphql(`
  query Owners { users(limit: 200, sort: { field: USERNAME }) { total rows { id username } } }
`);

/** The users that may own a client, as value and text, for administrators. */
export function useOwners(pause = false): ReadonlyArray<readonly [string, string]> {
  const { data } = useData(owners, {}, { pause });
  return (data?.users?.rows ?? []).map(({ id, username }) => [id, username]);
}

/** Chooses the owner whose records are listed. */
export function OwnerFilter({ list }: { readonly list: ListState }) {
  const { t } = useLanguage();
  const users = useOwners();
  const owner = list.get('owner');
  const isListed = owner === '' || owner === 'none' || users.some(([id]) => id === owner);
  return (
    <label className='item'>
      <span className='muted'>{t.clients.filters.owner}</span>
      <select className='select' value={owner} onChange={({ target }) => list.set({ owner: target.value })}>
        <option value=''>{t.clients.filters.anyone}</option>
        <option value='none'>{t.clients.filters.nobody}</option>
        {!isListed && <option value={owner}>#{owner}</option>}
        {users.map(([id, name]) => <option key={id} value={id}>{name}</option>)}
      </select>
    </label>
  );
}
