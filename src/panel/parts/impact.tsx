import { useEffect, useState } from 'react';
import { useAsk } from '../api/use.ts';
import { graphql } from '../generated/index.ts';
import type { ImpactQuery, ImpactResource } from '../generated/graphql.ts';
import { useLanguage } from '../language/language.tsx';
import { Loading } from './loading.tsx';

const impactQuery = graphql(`
  query Impact($resource: ImpactResource!, $ids: [ID!]!) {
    impact(resource: $resource, ids: $ids) { agents tunnels hosts connections ports hostNames sessions tokens }
  }
`);

type Parts = ImpactQuery['impact'];

/** The most records that the server counts in one request. */
const atOnce = 200;
/** How many ports and names are shown. */
const mostListed = 20;

/** What else is affected when records are stopped or deleted, read when the question opens. @param note about what is kept, or a milder way */
export function Impact({ resource, ids, text, note }: {
  readonly resource: ImpactResource;
  readonly ids: readonly string[];
  readonly text: string;
  readonly note?: string;
}) {
  const { t, f } = useLanguage();
  const ask = useAsk();
  const [parts, setParts] = useState<Parts>();
  const [isUnknown, setUnknown] = useState(false);
  const key = ids.join();
  useEffect(() => {
    const over = new AbortController();
    const all = key.split(',');
    void (async () => {
      let sum: Parts | undefined;
      for (let start = 0; start < all.length && !over.signal.aborted; start += atOnce) {
        const { data } = await ask(impactQuery, { resource, ids: all.slice(start, start + atOnce) });
        if (data === undefined) return setUnknown(true);
        sum = sum === undefined ? data.impact : together(sum, data.impact);
      }
      if (!over.signal.aborted) setParts(sum);
    })();
    return () => over.abort();
    // oxlint-disable-next-line react/exhaustive-deps -- `ask` is another function each time
  }, [resource, key]);
  const { impact } = t;
  const isDomain = resource === 'PLATFORM_DOMAIN';
  const hasParts = resource === 'CLIENT' || resource === 'USER';
  const lines = parts && [
    hasParts && parts.agents > 0 && impact.agents(parts.agents),
    hasParts && parts.tunnels > 0 && impact.tunnels(parts.tunnels),
    (hasParts || isDomain) && parts.hosts > 0 && impact.hosts(parts.hosts),
    parts.connections > 0 && impact.connections(parts.connections),
    parts.ports.length > 0 && impact.ports(parts.ports, parts.ports.length < mostListed),
    parts.hostNames.length > 0
    && (isDomain ? impact.holders : impact.hostNames)(parts.hostNames.map((name) => name.replace(/^([^/]+)\/$/, '$1')), parts.hostNames.length < mostListed),
    parts.sessions > 0 && impact.sessions(parts.sessions),
    parts.tokens > 0 && impact.tokens(parts.tokens),
  ].filter((line) => line !== false);
  return (
    <>
      <p>{text}</p>
      {isUnknown
        ? <p>{impact.unknown}</p>
        : lines === undefined
        ? <Loading />
        : lines.length === 0
        ? <p>{impact.nothing}</p>
        : (
          <>
            <p>{isDomain ? impact.holding : impact.also}</p>
            <ul aria-label={impact.asOf(f.clock(new Date()))}>{lines.map((line) => <li key={line}>{line}</li>)}</ul>
          </>
        )}
      {note !== undefined && <p className='small muted'>{note}</p>}
    </>
  );
}

function together(one: Parts, other: Parts): Parts {
  return {
    ...one,
    agents: one.agents + other.agents,
    tunnels: one.tunnels + other.tunnels,
    hosts: one.hosts + other.hosts,
    connections: one.connections + other.connections,
    ports: [...one.ports, ...other.ports].slice(0, mostListed),
    hostNames: [...one.hostNames, ...other.hostNames].slice(0, mostListed),
    sessions: one.sessions + other.sessions,
    tokens: one.tokens + other.tokens,
  };
}
