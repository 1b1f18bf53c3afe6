import { AditError } from '../../schema/errors.ts';
import type { FailureTexts } from '../errors.ts';
import {
  AddHostDocument,
  DeleteHostDocument,
  DiagnoseHostDocument,
  EditHostDocument,
  GetHostDocument,
  ListHostsDocument,
  PlatformHostAvailableDocument,
  StartHostDocument,
  StopHostDocument,
  type UpdateHostInput,
  type HostMode,
  type HostScheme,
  type HostSort,
  type HostSortField,
  type RequestScheme,
} from '../generated/graphql.ts';
import { listFilter, listing, sort, sorting } from '../list-parameters.ts';
import { about, boolean, caseless, choice, id, list as listOf, type Parameter, reference, required, text, type Values } from '../parameters.ts';
import { diagnosisRecord } from '../records/diagnosis.ts';
import { hostRecord } from '../records/host.ts';
import { list, single, write, type Route } from '../route.ts';
import { type Complete, fieldNames, inputOf, noneAtEmpty, sets } from '../settable.ts';

const schemes: Readonly<Record<string, HostScheme>> = { '': 'ALL', all: 'ALL', http: 'HTTP', https: 'HTTPS' };
const requestSchemes: Readonly<Record<Lowercase<RequestScheme>, RequestScheme>> = { http: 'HTTP', https: 'HTTPS' };

/** Any value except "platform" means a custom host (contract 2.5). */
const domainMode: Parameter<HostMode | undefined> = {
  kind: 'choice',
  choices: ['custom', 'platform'],
  description: "How the host's name is formed. Default for a new host: custom.",
  read: (value) => value === undefined ? undefined : value.trim() === 'platform' ? 'PLATFORM' : 'CUSTOM',
};

/** The parameters that /index/addhost/ and /index/edithost/ may set (contract 2.5). */
const settable = {
  client_id: sets('clientId', reference('client')),
  remark: sets('remark', about('A note.', text())),
  host: sets('host', about('The domain, or *. and a domain. Ignored for platform hosts.', text())),
  domain_mode: sets('mode', domainMode),
  platform_domain_id: sets('platformDomainId', about('The id of the platform domain. Required for platform hosts.', text())),
  platform_prefix: sets('platformPrefix', about('The prefix below the platform domain. Required for platform hosts.', text())),
  scheme: sets('scheme', about('The schemes to serve; blank = all.', choice(schemes))),
  location: sets('location', noneAtEmpty(about('The path prefix of requests to serve; blank = all paths.', text()))),
  target: sets('targets', about('The targets, used in round-robin order: ip:port, [IPv6]:port, or just a port.', listOf())),
  local_proxy: sets('localProxy', about("The server dials the targets itself. Stays false unless the server's settings allow it.", boolean())),
  header: sets('headers', about('Headers to set on requests: name:value.', listOf())),
  hostchange: sets('hostChange', noneAtEmpty(about("The Host header to send to the target; blank = the visitor's.", text()))),
  key_file_path: sets('privateKey', noneAtEmpty(about('The private key of the certificate, as PEM text or path. Ignored for platform hosts.', text()))),
  cert_file_path: sets('certificate', noneAtEmpty(about('The certificate, as PEM text or path. Ignored for platform hosts.', text()))),
  AutoHttps: sets('autoHttps', about('Redirect HTTP requests to HTTPS. Stays false while the scheme is http.', boolean())),
  auto_https: about('Another name of AutoHttps.', boolean()),
};

/** The legacy API has no parameter for ACME. */
function hostInput(values: Values<typeof settable>): Complete<UpdateHostInput, 'acme'> {
  const input = inputOf(settable, values);
  return { ...input, autoHttps: input.autoHttps ?? values.auto_https };
}

/** Adds a prefix to the message: with a comma for platform domains, without a separator for other hosts. */
function prefixed(platform: string, others: string): FailureTexts {
  const before = (start: string) => (message: string) => start + message;
  return {
    HOST_INVALID: before(others),
    HOST_EXISTS: before(others),
    HOST_OVERLAP: before(others),
    PLATFORM_NAMESPACE: before(others),
    PLATFORM_DOMAIN_REQUIRED: before(platform),
    PLATFORM_DOMAIN_UNKNOWN: before(platform),
    PLATFORM_PREFIX_INVALID: before(platform),
    PLATFORM_PREFIX_USED: before(platform),
    PLATFORM_HOST_USED: before(platform),
    PLATFORM_HTTP_ONLY: before(platform),
    PLATFORM_CERTIFICATE: before(platform),
  };
}

/** Sorting by STOPPED is sorting by the GraphQL field ENABLED in the opposite direction, also of equal rows. */
function hostSorting(field: Exclude<HostSortField, 'ENABLED'> | 'STOPPED' | undefined, direction: 'ASC' | 'DESC'): HostSort | undefined {
  return field === 'STOPPED' ? sorting('ENABLED' as const, direction === 'ASC' ? 'DESC' : 'ASC') : sorting(field, direction);
}

const hostId = { id: id('host') };

/** The endpoints for hosts under /index (contract 2.5). */
export const hostRoutes: readonly Route[] = [
  list({
    path: '/index/hostlist',
    answer: 'Host',
    summary: 'Lists hosts.',
    parameters: {
      client_id: listing.filter,
      user_id: listing.owner,
      unassigned: listing.unassigned,
      search: listing.search,
      sort: sort({
        Id: 'ID',
        ClientId: 'CLIENT_ID',
        Remark: 'REMARK',
        VerifyKey: 'VERIFY_KEY',
        'Client.VerifyKey': 'VERIFY_KEY',
        Host: 'HOST',
        Scheme: 'SCHEME',
        Target: 'TARGET',
        Location: 'LOCATION',
        IsClose: 'STOPPED',
        Status: 'STOPPED',
        IsConnect: 'CONNECTED',
        'Client.IsConnect': 'CONNECTED',
      }),
      order: listing.order,
      offset: listing.offset,
      limit: listing.limit,
    },
    operation: ListHostsDocument,
    variables: ({ client_id: clientId, search, sort: field, order, offset, limit, ...owner }) => ({
      filter: listFilter(owner, { clientId }),
      search,
      sort: hostSorting(field, order),
      offset,
      limit,
    }),
    page: ({ hosts }) => ({ rows: hosts.rows.map(hostRecord), total: hosts.total }),
  }),
  single({
    path: '/index/gethost',
    answer: 'Host',
    summary: 'Returns a host.',
    parameters: hostId,
    operation: GetHostDocument,
    variables: (values) => values,
    record: ({ host }) => host && hostRecord(host),
  }),
  write({
    path: '/index/addhost',
    summary: 'Creates a host and starts it.',
    parameters: settable,
    operation: AddHostDocument,
    // Without a client it uses an id that doesn't exist, so that errors in other parameters are reported first (contract 2.5).
    variables: (values) => ({ input: { ...hostInput(values), clientId: values.client_id ?? 0 } }),
    success: 'add success',
    createdId: ({ createHost }) => createHost.id,
    texts: { ...prefixed('add fail, ', 'add fail'), 'NOT_FOUND client': 'add error the client can not be found' },
    fields: fieldNames(settable),
  }),
  write({
    path: '/index/edithost',
    summary: 'Changes a host. Absent parameters keep their values. A stopped host stays stopped.',
    parameters: { ...hostId, ...settable },
    operation: EditHostDocument,
    variables: (values) => ({ id: values.id, input: hostInput(values) }),
    success: 'modified success',
    texts: { ...prefixed('modified error,', 'modified error,'), 'NOT_FOUND client': 'modified error,the client is not exist' },
    fields: fieldNames(settable),
  }),
  write({
    path: '/index/hoststop',
    summary: 'Stops a host: its requests are no longer routed.',
    parameters: hostId,
    operation: StopHostDocument,
    variables: (values) => values,
    success: 'stop success',
  }),
  write({
    path: '/index/hoststart',
    summary: 'Starts a host.',
    parameters: hostId,
    operation: StartHostDocument,
    variables: (values) => values,
    success: 'start success',
  }),
  write({
    path: '/index/delhost',
    summary: 'Deletes a host.',
    parameters: hostId,
    operation: DeleteHostDocument,
    variables: (values) => values,
    success: 'delete success',
  }),
  write({
    path: '/index/platformhostavailable',
    answer: 'Availability',
    summary: 'Returns whether a prefix of a platform domain is available. A hint for forms: the name is not reserved.',
    parameters: {
      platform_domain_id: about('The id of the platform domain.', text()),
      platform_prefix: about('The prefix below the platform domain.', text()),
      id: about('The host that is being edited. Its own name counts as available.', listing.filter),
    },
    operation: PlatformHostAvailableDocument,
    variables: (values) => ({ platformDomainId: values.platform_domain_id ?? '', platformPrefix: values.platform_prefix ?? '', hostId: values.id }),
    success: 'success',
    extra: ({ platformHostAvailable: { available, host } }) => ({ available, host }),
  }),
  write({
    path: '/index/hostdiagnose',
    answer: 'Diagnosis',
    summary: 'Returns the host rule that matches a request, or why none does. A GET request returns the page of the panel.',
    parameters: {
      host: about('The Host header, without scheme and path.', required(() => invalidRequest('host', 'host empty'))),
      scheme: { ...about('The scheme of the request.', caseless(choice(requestSchemes, () => invalidScheme()))), required: true },
      path: about('The path, starting with /; blank = /.', text()),
    },
    operation: DiagnoseHostDocument,
    variables: ({ host, path, scheme }) => {
      if (scheme === undefined) throw invalidScheme();
      return { host, path, scheme };
    },
    success: 'success',
    extra: (result) => ({ data: diagnosisRecord(result) }),
    panel: true,
    ownPage: true,
  }),
];

function invalidScheme(): AditError {
  return invalidRequest('scheme', 'scheme must be http or https');
}

function invalidRequest(field: string, reason: string): AditError {
  return new AditError('DIAGNOSIS_REQUEST_INVALID', { field, reason });
}
