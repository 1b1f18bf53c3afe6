import type { ProblemCode, ProblemFix } from '../../generated/graphql.ts';
import type { Language } from '../../language/language.tsx';
import { hostName } from '../hosts/host-name.ts';

/** A problem, as the server reports it. */
export interface ReportedProblem {
  readonly code: ProblemCode;
  readonly since?: string | null | undefined;
  readonly params: ReadonlyArray<{ readonly name: string; readonly value: string }>;
  readonly client?: { readonly id: string; readonly remark: string } | null | undefined;
  readonly tunnel?: { readonly id: string; readonly remark: string } | null | undefined;
  readonly host?: { readonly id: string; readonly host: string; readonly location: string; readonly publicUrls: readonly string[] } | null | undefined;
  readonly user?: { readonly id: string; readonly username: string } | null | undefined;
}

/** What is wrong, as a headline. */
export function problemTitle({ code, client, tunnel, host, user }: ReportedProblem, { t }: Language): string {
  const name = client
    ? client.remark || t.clients.nameless(client.id)
    : tunnel
    ? tunnel.remark || t.tunnels.nameless(tunnel.id)
    : host
    ? hostName(host)
    : user?.username ?? '';
  return t.problems.what[code](name);
}

/** Why it is wrong, and since when. */
export function problemReason({ code, params, since }: ReportedProblem, { t, f }: Language): string {
  const values = new Map(params.map(({ name, value }) => [name, value]));
  const text = (name: string): string => values.get(name) ?? '';
  const why = t.problems.why[code]({
    text,
    count: (name) => Number(text(name)),
    share: (used, limit) => f.share(Number(text(used)), Number(text(limit))),
    moment: (name) => f.short(text(name)),
  });
  // An expiry already names its time.
  if (!since || values.has('at')) return why;
  return why + t.punctuation.gap + t.problems.since(f.short(since), f.duration(Date.now() - Date.parse(since)));
}

/** The page of the record that has a problem; undefined = it is about none. */
export function recordAddress({ client, tunnel, host, user }: ReportedProblem): string | undefined {
  if (client) return `/clients/${client.id}`;
  if (tunnel) return `/tunnels/${tunnel.id}`;
  if (host) return `/hosts/${host.id}`;
  return user ? `/users/${user.id}` : undefined;
}

/** The page where a problem is fixed; undefined = none. */
export function fixAddress(fix: ProblemFix, { client, tunnel, host, user }: ReportedProblem): string | undefined {
  const clientPage = client ? `/clients/${client.id}` : undefined;
  switch (fix) {
    case 'START_AGENT':
      return clientPage;
    case 'DELETE_UNUSED':
      return clientPage && `${clientPage}/tunnels`;
    case 'RAISE_LIMIT':
    case 'EXTEND_CLIENT':
      return clientPage && `${clientPage}/edit`;
    case 'EXTEND_USER':
      return user ? `/users/${user.id}` : undefined;
    case 'CHANGE_TUNNEL':
      return tunnel ? `/tunnels/${tunnel.id}` : undefined;
    case 'REPLACE_CERTIFICATE':
    case 'RETRY_ACME':
      return host ? `/hosts/${host.id}` : undefined;
    case 'DIAGNOSE':
      if (tunnel) return `/diagnosis?tunnel=${tunnel.id}`;
      return host ? `/diagnosis?url=${encodeURIComponent(host.publicUrls[0] ?? `https://${host.host}${host.location}`)}` : undefined;
    case 'FREE_LOCKOUTS':
      return '/lockouts';
    case 'ASK_ADMINISTRATOR':
      return undefined;
  }
}
