import { useEffect, useMemo, useState } from 'react';
import { Provider } from 'urql';
import { createClient } from '../api/client.ts';
import { base } from '../base.ts';
import { useLanguage } from '../language/language.tsx';
import { CreateWall } from './wall/create-wall.tsx';
import { ReadOnly } from './wall/read-only.tsx';
import { Screen } from './wall/screen.tsx';

/**
 * `/wall#TOKEN`: for a screen that is read from across a room. The token is in the fragment, which browsers send to no server, so no log contains it.
 * Without a token, administrators and users create one here. A token that may write is refused: everybody who sees the screen's address has it.
 */
export default function WallPage() {
  const { t } = useLanguage();
  const [token, setToken] = useState(() => location.hash.slice(1));
  useEffect(() => {
    document.title = `${t.dashboard.wall.title} · Adit`;
    const update = (): void => setToken(location.hash.slice(1));
    window.addEventListener('hashchange', update);
    return () => window.removeEventListener('hashchange', update);
  }, [t]);
  const client = useMemo(() => token === '' ? createClient() : createClient(token), [token]);
  return (
    <Provider value={client}>
      {token === '' ? <CreateWall onMade={(made) => location.assign(`${base}/wall#${made}`)} /> : (
        <ReadOnly>
          <Screen />
        </ReadOnly>
      )}
    </Provider>
  );
}
