import { AditError } from '../../schema/errors.ts';
import type { FailureTexts } from '../errors.ts';
import {
  AddHostDocument, DeleteHostDocument, DiagnoseHostDocument, EditHostDocument, GetHostDocument, ListHostsDocument, PlatformHostAvailableDocument,
  StartHostDocument, StopHostDocument, type UpdateHostInput, type HostMode, type HostScheme, type RequestScheme,
} from '../generated/graphql.ts';
import { about, boolean, caseless, choice, id, list as listOf, listing, ownerFilter, type Parameter, reference, required, sort, text, type Values } from '../parameters.ts';
import { diagnosisRecord } from '../records/diagnosis.ts';
import { hostRecord } from '../records/host.ts';
import { list, single, write, type Route } from '../route.ts';

const schemes: Readonly<Record<string, HostScheme>> = { '': 'ALL', all: 'ALL', http: 'HTTP', https: 'HTTPS' };
const requestSchemes: Readonly<Record<Lowercase<RequestScheme>, RequestScheme>> = { http: 'HTTP', https: 'HTTPS' };

/** Anything but "platform" is a custom host (contract 2.5). */
const domainMode: Parameter<HostMode | undefined> = {
  kind: 'choice',
  choices: ['custom', 'platform'],
  description: 'Where the name comes from; absent on a new host = custom.',
  read: (value) => value === undefined ? undefined : value.trim() === 'platform' ? 'PLATFORM' : 'CUSTOM',
};

/** What /index/addhost/ and /index/edithost/ may set (contract 2.5). */
const settable = {
  client_id: reference('client'),
  remark: about('A note.', text()),
  host: about('The full domain, or *. and a domain; a platform host ignores it.', text()),
  domain_mode: domainMode,
  platform_domain_id: about('The id of the platform domain; needed by a platform host.', text()),
  platform_prefix: about('The name below the platform domain; needed by a platform host.', text()),
  scheme: about('The protocol it is for; blank = all.', choice(schemes)),
  location: about('The beginning of the URL paths it is for; blank = all.', text()),
  target: about('Where requests go, in turn: ip:port, [IPv6]:port, or a port alone.', listOf()),
  local_proxy: about('The server dials the targets itself; stays off unless the server allows it.', boolean()),
  header: about('Headers that requests to the target get: name:value.', listOf()),
  hostchange: about('The Host header that the target gets; blank = as received.', text()),
  key_file_path: about('The private key of a custom domain, as PEM text or path; a platform host ignores it.', text()),
  cert_file_path: about('The certificate of a custom domain, as PEM text or path; a platform host ignores it.', text()),
  AutoHttps: about('Send visitors of http to https; only when scheme is not http.', boolean()),
  auto_https: about('Another name of AutoHttps.', boolean()),
};

/** The parameter behind each field of the GraphQL input; for certificates by ACME there is none. */
const fields: Readonly<Record<Exclude<keyof UpdateHostInput, 'acme'>, string>> = {
  clientId: 'client_id',
  remark: 'remark',
  host: 'host',
  mode: 'domain_mode',
  platformDomainId: 'platform_domain_id',
  platformPrefix: 'platform_prefix',
  scheme: 'scheme',
  location: 'location',
  targets: 'target',
  localProxy: 'local_proxy',
  headers: 'header',
  hostChange: 'hostchange',
  privateKey: 'key_file_path',
  certificate: 'cert_file_path',
  autoHttps: 'AutoHttps',
};

function hostInput(values: Values<typeof settable>): UpdateHostInput {
  return {
    clientId: values.client_id,
    remark: values.remark,
    host: values.host,
    mode: values.domain_mode,
    platformDomainId: values.platform_domain_id,
    platformPrefix: values.platform_prefix,
    scheme: values.scheme,
    location: values.location,
    targets: values.target,
    localProxy: values.local_proxy,
    headers: values.header,
    hostChange: values.hostchange,
    privateKey: values.key_file_path,
    certificate: values.cert_file_path,
    autoHttps: values.AutoHttps ?? values.auto_https,
  };
}

/** The family says what failed before it says why: with a comma for platform domains, for others with nothing between. */
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
        Id: 'ID', ClientId: 'CLIENT_ID', Remark: 'REMARK', VerifyKey: 'VERIFY_KEY', 'Client.VerifyKey': 'VERIFY_KEY', Host: 'HOST', Scheme: 'SCHEME',
        Target: 'TARGET', Location: 'LOCATION', IsClose: 'STOPPED', Status: 'STOPPED', IsConnect: 'CONNECTED', 'Client.IsConnect': 'CONNECTED',
      }),
      order: listing.order,
      offset: listing.offset,
      limit: listing.limit,
    },
    operation: ListHostsDocument,
    variables: ({ client_id: clientId, search, sort: orderBy, order, offset, limit, ...owner }) => ({ ...ownerFilter(owner), clientId, search, orderBy, order: orderBy ? order : undefined, offset, limit }),
    page: ({ hosts }) => ({ rows: hosts.rows.map(hostRecord), total: hosts.total }),
  }),
  single({
    path: '/index/gethost',
    answer: 'Host',
    summary: 'One host.',
    parameters: hostId,
    operation: GetHostDocument,
    variables: (values) => values,
    record: ({ host }) => host && hostRecord(host),
  }),
  write({
    path: '/index/addhost',
    summary: 'Makes a host and starts it.',
    parameters: settable,
    operation: AddHostDocument,
    // Without a client it is given one that there is not, so that what is wrong with the rest is said first (contract 2.5).
    variables: (values) => ({ input: { ...hostInput(values), clientId: values.client_id ?? 0 } }),
    success: 'add success',
    createdId: ({ createHost }) => createHost.id,
    texts: { ...prefixed('add fail, ', 'add fail'), 'NOT_FOUND client': 'add error the client can not be found' },
    fields,
  }),
  write({
    path: '/index/edithost',
    summary: 'Changes a host; parameters that are left out keep their values, a stopped one stays stopped.',
    parameters: { ...hostId, ...settable },
    operation: EditHostDocument,
    variables: (values) => ({ id: values.id, input: hostInput(values) }),
    success: 'modified success',
    texts: { ...prefixed('modified error,', 'modified error,'), 'NOT_FOUND client': 'modified error,the client is not exist' },
    fields,
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
    summary: 'Says whether a prefix of a platform domain is free; a hint, only saving decides.',
    parameters: {
      platform_domain_id: about('The id of the platform domain.', text()),
      platform_prefix: about('The name below it.', text()),
      id: about('The host that is being edited: its own name counts as free.', listing.filter),
    },
    operation: PlatformHostAvailableDocument,
    variables: (values) => ({ platformDomainId: values.platform_domain_id ?? '', platformPrefix: values.platform_prefix ?? '', hostId: values.id }),
    success: 'success',
    extra: ({ platformHostAvailable: { available, host } }) => ({ available, host }),
  }),
  write({
    path: '/index/hostdiagnose',
    answer: 'Diagnosis',
    summary: 'Says which host rule takes a request, or why none does; a GET opens the page of the panel.',
    parameters: {
      host: about('The Host as received, without scheme and path.', required(() => invalidRequest('host', 'host empty'))),
      scheme: { ...about('The protocol of the request.', caseless(choice(requestSchemes, () => invalidScheme()))), required: true },
      path: about('The path, which begins with /; blank = /.', text()),
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
