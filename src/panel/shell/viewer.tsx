import { createContext, type ReactNode, useContext, useEffect } from 'react';
import { useData } from '../api/use.ts';
import { loggedOut } from '../api/session.ts';
import { useStore } from '../api/store.ts';
import { base } from '../base.ts';
import { graphql } from '../generated/index.ts';
import type { ViewerQuery } from '../generated/graphql.ts';
import { Failure } from '../parts/failure.tsx';

const viewerQuery = graphql(`
  query Viewer {
    viewer { role name readOnly secrets user { id username } client { id remark } }
    server {
      version startedAt retention { auditDays trafficMinuteDays trafficHourDays trafficDayDays } allowLocalProxy acme acmeDirectory publicAddress hostHttpPort hostHttpsPort bridgeTlsPort bridgeTlsFingerprint
      counts { clients { total connected neverSeen disabled expired } tunnels { total running } hosts { total serving disabled } users { total disabled expired } }
    }
  }
`);

/** Who uses the panel, and the server. */
export interface ViewerState {
  readonly role: ViewerQuery['viewer']['role'];
  /** The login name. */
  readonly name: string;
  readonly isAdministrator: boolean;
  /** Nothing may be changed: the page shows no buttons for it. */
  readonly readOnly: boolean;
  readonly secrets: boolean;
  readonly user: ViewerQuery['viewer']['user'];
  readonly client: ViewerQuery['viewer']['client'];
  readonly server: ViewerQuery['server'];
  readonly refetch: () => void;
}

const ViewerContext = createContext<ViewerState | undefined>(undefined);
/** The interval at which the numbers in the navigation are read again, in ms. */
const countsMs = 30_000;

/** Loads who uses the panel; without a session, opens the login page. */
export function ViewerProvider({ children }: { readonly children: ReactNode }) {
  const { data, error, refetch } = useData(viewerQuery, {}, { everyMs: countsMs });
  const needsLogin = useStore(loggedOut);
  useEffect(() => {
    if (needsLogin && data === undefined) {
      location.replace(`${base}/login/index?next=${encodeURIComponent(location.pathname.slice(base.length) + location.search)}`);
    }
  }, [needsLogin, data]);
  if (data === undefined) return <main>{needsLogin ? null : <Failure error={error} isAlone onRetry={refetch} />}</main>;
  const { viewer, server } = data;
  const state = { ...viewer, isAdministrator: viewer.role === 'ADMINISTRATOR', server, refetch };
  return <ViewerContext value={state}>{children}</ViewerContext>;
}

/** Who uses the panel. */
export function useViewer(): ViewerState {
  const viewer = useContext(ViewerContext);
  if (viewer === undefined) throw new Error('this component is outside of ViewerProvider');
  return viewer;
}
