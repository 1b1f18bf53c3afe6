import type { ListedCertificate } from '../../engine/face.ts';
import { mayUseClient } from '../../rules/ownership.ts';
import { hostConditions } from '../../store/hot/conditions.ts';
import type { HostOrder } from '../../store/hot/host-page.ts';
import { platformHost, platformPrefix } from '../../rules/platform-domain.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { countOf, listQuery, ownedOnly, ownerFields, withProblemsField } from '../lists/list.ts';
import { pageArgs, rowLimits, type Sort, SortDirection, sortFields } from '../lists/page.ts';
import { idOf } from '../values/ids.ts';
import { textOf } from '../values/input.ts';
import { CertificateStatusType } from './certificate-type.ts';
import { HostMode, HostScheme } from './enums.ts';
import { platformDomain, platformName, ownNames } from './name-rules.ts';
import { Host, HostPage } from './type.ts';

const HostSortField = builder.enumType('HostSortField', {
  description: 'The fields that hosts can be sorted by.',
  values: {
    ID: { description: 'The id.' },
    CLIENT_ID: { description: "The client's id." },
    REMARK: { description: 'The note.' },
    VERIFY_KEY: { description: "The client's verification key." },
    HOST: { description: 'The domain.' },
    SCHEME: { description: 'The protocol.' },
    TARGET: { description: 'The targets.' },
    LOCATION: { description: 'The path prefix.' },
    ENABLED: { description: 'Stopped ones first. Hosts with equal values are sorted by id in the opposite direction.' },
    CONNECTED: { description: 'Those whose agent is not connected first.' },
    RATE: { description: 'Bytes transferred in the last second.' },
    CONNECTIONS: { description: "Visitors' open connections." },
    CERTIFICATE: { description: 'The day (UTC) on which the certificate in use expires. Hosts without one come last.' },
    PROBLEMS: { description: 'Those that `problems` names last.' },
  },
});

interface Availability {
  readonly available: boolean;
  readonly host: string;
  readonly suggestions: readonly string[];
}

const dayMs = 86_400_000;

/** How many free prefixes are suggested, and how many are tried. */
const [mostSuggested, mostTried] = [3, 9];

const HostAvailability = builder.objectRef<Availability>('HostAvailability').implement({
  description: 'Whether a host name is available.',
  fields: (t) => ({
    available: t.exposeBoolean('available', { description: "Whether no host uses the name and it is not one of the server's own." }),
    host: t.exposeString('host', { description: 'The full domain name.' }),
    suggestions: t.stringList({
      description: `If the name is not available: at most ${mostSuggested} similar prefixes that are.`,
      resolve: ({ suggestions }) => [...suggestions],
    }),
  }),
});

const HostSort = builder.inputType('HostSort', {
  description: 'The order of a list of hosts.',
  fields: (t) => ({
    field: t.field({ type: HostSortField, required: true, description: sortFields.field }),
    direction: t.field({ type: SortDirection, required: true, defaultValue: 'ASC', description: sortFields.direction }),
  }),
});

const HostFilter = builder.inputType('HostFilter', {
  description: 'Selects hosts that meet all conditions. A condition that is absent or null has no effect.',
  fields: (t) => ({
    clientId: t.id({ extensions: { indexed: true }, description: 'Only those that belong to this client.' }),
    ownerId: t.id({ extensions: { indexed: true }, description: ownerFields.ownerId }),
    unassigned: t.boolean({ description: ownerFields.unassigned }),
    scheme: t.field({ type: HostScheme, description: 'Only those with this scheme. ALL = only those that serve both.' }),
    mode: t.field({ type: HostMode, description: 'Only those with this mode.' }),
    withProblems: t.boolean({ description: withProblemsField }),
    platformDomainId: t.id({ description: 'Only those below this platform domain.' }),
    enabled: t.boolean({ description: 'True = only started ones, false = only stopped ones.' }),
    connected: t.boolean({ description: "True = only those whose client's agent is connected, false = only the others. The state can be up to a second old." }),
    serving: t.boolean({ description: 'True = only started ones whose agent is connected, false = only the others. The state can be up to a second old.' }),
    certificateStatus: t.field({
      type: CertificateStatusType,
      description: 'Only those whose certificate has this status. Certificate files are read every 30 seconds.',
    }),
    certificateDaysRemainingBelow: t.int({
      description:
        'Only those whose certificate in use expires in fewer than this number of days, including expired ones. At least 1. Certificate files are read every 30 seconds.',
    }),
  }),
});

builder.queryFields((t) => ({
  host: t.field({
    type: Host,
    authScopes: { clientLogin: true },
    nullable: true,
    description: 'The host with this id; null = no such host.',
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: async (_root, { id }, { caller, loaders }) => {
      const row = await loaders.hosts.load(idOf('id', id));
      const client = row && await loaders.clients.load(row.clientId);
      return client !== undefined && mayUseClient(caller, client) ? row : null;
    },
  }),
  hosts: t.field({
    type: HostPage,
    authScopes: { clientLogin: true },
    description: 'The hosts, sorted by id unless `sort` is set.',
    args: {
      filter: t.arg({ type: HostFilter, description: pageArgs.filter }),
      search: t.arg.string({ description: pageArgs.search }),
      sort: t.arg({ type: HostSort, description: pageArgs.sort }),
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: async (_root, args, context) => {
      const { store: { hostPage, hostPages } } = context;
      const { before, status, withProblems, ...filter } = hostsOf(context, args.filter ?? {});
      const query = { ...await listQuery(context, { ...args, sort: storedSort(args.sort) }), conditions: hostConditions(filter) };
      const needsCertificates = before !== undefined || status !== undefined || args.sort?.field === 'CERTIFICATE';
      const byProblems = args.sort?.field === 'PROBLEMS';
      if (!needsCertificates && !withProblems && !byProblems) return context.list(query, hostPage, hostPages);
      return context.list(query, hostPage, hostPages, async () => {
        const certificates = needsCertificates ? await context.engine.listedCertificates() : [];
        const troubled = withProblems || byProblems ? (await context.problems.troubled()).hosts : [];
        const idLists = [
          ...before === undefined ? [] : [idsOf(certificates, ({ until }) => until !== null && until < before)],
          ...status === undefined || status === 'none' ? [] : [idsOf(certificates, (one) => one.status === status)],
          ...withProblems ? [troubled] : [],
        ];
        const conditions = hostConditions({
          ...filter,
          ids: idLists.length === 0 ? undefined : inAll(idLists),
          notIds: status === 'none' ? idsOf(certificates, () => true) : undefined,
        });
        return {
          ...query,
          conditions,
          ...(args.sort?.field === 'CERTIFICATE' && { ranked: { ids: byDays(certificates), othersFirst: false } }),
          ...(byProblems && { ranked: { ids: troubled.toSorted((one, other) => one - other), othersFirst: true } }),
        };
      });
    },
  }),
  platformHostAvailable: t.field({
    type: HostAvailability,
    authScopes: { clientLogin: true },
    description: 'Whether a prefix of a platform domain is available. A hint for forms: the name is not reserved.',
    args: {
      platformDomainId: t.arg.id({ required: true, description: "The platform domain's id." }),
      platformPrefix: t.arg.string({ required: true, description: 'The prefix.' }),
      hostId: t.arg.id({ description: 'The host that is being edited. Its own name counts as available.' }),
    },
    resolve: async (_root, args, context) => {
      const { caller, store } = context;
      const edited = idOf('hostId', args.hostId);
      const domain = await platformDomain(store.db, args.platformDomainId);
      const { host, platformPrefix: prefix } = platformName(domain, args.platformPrefix);
      const own = caller.kind === 'admin' ? undefined : await ownNames(context, store.db);
      const others = await store.db.host.findMany({ where: { host }, include: { client: true } });
      const available = own?.has(host) !== true && others.every(({ id, client }) => id === edited && mayUseClient(caller, client));
      if (available) return { available, host, suggestions: [] };
      // Those that are too long for DNS are left out.
      const similar = nextPrefixes(prefix ?? '').flatMap((text) => {
        const name = platformPrefix(text) === undefined ? undefined : platformHost(domain.wildcard, text);
        return name === undefined ? [] : [{ text, name }];
      });
      const taken = await store.db.host.findMany({ where: { host: { in: similar.map(({ name }) => name) } }, select: { host: true } });
      const isFree = (name: string) => own?.has(name) !== true && taken.every((other) => other.host !== name);
      return { available, host, suggestions: similar.filter(({ name }) => isFree(name)).slice(0, mostSuggested).map(({ text }) => text) };
    },
  }),
}));

/** The order in the store, which sorts by whether a host is stopped, with its index and the order of the legacy API (contract 2.1). */
function storedSort(sort: typeof HostSort.$inferInput | null | undefined): Sort<HostOrder> | undefined {
  if (!sort) return undefined;
  const { field, direction } = sort;
  return field === 'ENABLED' ? { field: 'STOPPED', direction: direction === 'ASC' ? 'DESC' : 'ASC' } : { field, direction };
}

/** The filter conditions that are checked on each host; `before` = latest expiry of the current certificate, in ms since the epoch. */
function hostsOf(
  context: Context,
  { scheme, mode, platformDomainId, enabled, connected, serving, withProblems, certificateStatus, certificateDaysRemainingBelow, ...owner }:
    typeof HostFilter.$inferInput,
) {
  const days = countOf('filter.certificateDaysRemainingBelow', certificateDaysRemainingBelow, 1);
  return {
    connected: connected ?? undefined,
    enabled: enabled ?? undefined,
    serving: serving ?? undefined,
    scheme: scheme ?? undefined,
    platform: mode ? mode === 'platform' : undefined,
    platformDomainId: textOf('filter.platformDomainId', platformDomainId),
    owned: ownedOnly(owner),
    withProblems: withProblems === true,
    status: certificateStatus ?? undefined,
    before: days === undefined ? undefined : context.now() + days * dayMs,
  };
}

function idsOf(certificates: readonly ListedCertificate[], isWanted: (certificate: ListedCertificate) => boolean): number[] {
  return certificates.filter(isWanted).map(({ id }) => id);
}

/** The ids that all lists have. */
function inAll([first = [], ...others]: readonly (readonly number[])[]): readonly number[] {
  return others.reduce((ids, other) => {
    const set = new Set(other);
    return ids.filter((id) => set.has(id));
  }, first);
}

/** The ids of hosts with a certificate, by the day of its expiry and then by id. Only the days are sorted: there may be a hundred thousand hosts. */
function byDays(certificates: readonly ListedCertificate[]): number[] {
  const days = new Map<number, number[]>();
  for (const { id, until } of certificates) {
    if (until === null) continue;
    const day = Math.floor(until / dayMs);
    const ids = days.get(day);
    if (ids === undefined) days.set(day, [id]);
    else ids.push(id);
  }
  return Array.from(days).toSorted(([one], [other]) => one - other).flatMap(([, ids]) => ids.toSorted((one, other) => one - other));
}

/** Prefixes like a given one, with the next numbers: `shop` gives `shop-2`, `shop-7` gives `shop-8`. */
function nextPrefixes(prefix: string): string[] {
  const [, stem = '', number = '1'] = /^(.*?)(?:-(\d{1,6}))?$/.exec(prefix) ?? [];
  return Array.from({ length: mostTried }, (_, at) => `${stem}-${Number(number) + at + 1}`);
}
