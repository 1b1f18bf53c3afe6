import { statusOf } from './failure.ts';
import { cacheExchange } from '@urql/exchange-graphcache';
import { Client, fetchExchange, mapExchange } from 'urql';
import { base } from '../base.ts';
import { reportReached, reportUnreachable } from './connection.ts';
import { reportLoggedOut } from './session.ts';

/**
 * Graphcache stores these in the record that they belong to: types without an id, and records that come and go without end, since Graphcache keeps a note
 * of each id that it ever stored.
 */
const embedded = [
  'AcmeState',
  'AgentSession',
  'AuditEntry',
  'AuditPage',
  'BulkResult',
  'CertificateCheck',
  'ClientCounts',
  'ClientPage',
  'ClientRuntime',
  'Counts',
  'CreatedApiToken',
  'CreatedEnrolment',
  'DiagnosisFinding',
  'DiagnosisFix',
  'DiagnosisGate',
  'Enrolment',
  'GlobalSettings',
  'Health',
  'HostAvailability',
  'HostCertificate',
  'HostCounts',
  'HostDiagnosis',
  'HostPage',
  'HostRuntime',
  'Impact',
  'Lockout',
  'Node',
  'PlatformCertificate',
  'ProblemPage',
  'Refusal',
  'RefusalSample',
  'Retention',
  'SearchResult',
  'Server',
  'TargetHealth',
  'TargetProbe',
  'TextParameter',
  'TrafficSample',
  'TrafficTick',
  'TunnelCounts',
  'TunnelDiagnosis',
  'TunnelModeCount',
  'TunnelPage',
  'TunnelRuntime',
  'TunnelVisitor',
  'UserCounts',
  'UserPage',
  'VisitorPage',
  'Viewer',
  'VisitorConnection',
  'VisitorConnectionPage',
  'WallPage',
  'WallProblemPage',
];

/** The fields of `Query` that a created or deleted record changes. */
const lists = ['problems', 'search', 'clients', 'tunnels', 'hosts', 'users', 'apiTokens', 'lockouts', 'sessions', 'server', 'client', 'tunnel', 'host', 'user'];
/** The mutations that create or delete records, or change several. */
const listChanges = ['Client', 'Tunnel', 'Host', 'User'].flatMap((type) => [`create${type}`, `delete${type}`, `change${type}s`]);

const cache = cacheExchange({
  keys: Object.fromEntries(embedded.map((type) => [type, () => null])),
  updates: {
    // A chart that is shown asks for a later hour each minute. Without this, all earlier answers would stay in memory.
    Query: {
      traffic(_result, { resource, id, step, from }, store) {
        for (const { fieldName, arguments: other } of store.inspectFields('Query')) {
          const isEarlier = other?.['resource'] === resource && other?.['id'] === id && other?.['step'] === step && other?.['from'] !== from;
          if (fieldName === 'traffic' && isEarlier) store.invalidate('Query', fieldName, other);
        }
      },
    },
    Mutation: Object.fromEntries(
      [...listChanges, 'copyTunnel', 'createApiToken', 'revokeApiToken', 'regenerateLegacyApiToken', 'revokeLegacyApiToken', 'freeLockout', 'endSession'].map((
        field,
      ) => [field, (_result, args, store) => {
        if (args['dryRun'] === true) return;
        for (const list of lists) store.invalidate('Query', list);
      }]),
    ),
  },
});

/** Watches every response for an ended session and a lost connection. */
const watching = mapExchange({
  onResult({ error, operation }) {
    if (operation.kind === 'teardown') return;
    const status = statusOf(error);
    if (status === 401) reportLoggedOut();
    else if (error?.networkError !== undefined && (status === undefined || status >= 500)) reportUnreachable();
    else reportReached();
  },
});

/** Makes the GraphQL client. @param token for a page without a session, such as the wall; it is only kept in memory */
export function createClient(token?: string): Client {
  return new Client({
    url: `${base}/graphql`,
    preferGetMethod: false,
    requestPolicy: 'cache-and-network',
    fetchSubscriptions: true,
    fetchOptions: token === undefined ? { credentials: 'same-origin' } : { credentials: 'omit', headers: { authorization: `Bearer ${token}` } },
    exchanges: [watching, cache, fetchExchange],
  });
}
