import type { Host } from '../../store/generated/sqlite/client.ts';
import type { ColumnUses } from '../values/columns.ts';

/** How each column of a host is used. Headers contain credentials for targets; certificate and key may contain PEM text. */
export const columnsOfHost = {
  id: { audit: 'value', shown: 'id', input: null, declared: false },
  clientId: { audit: 'value', shown: 'client', input: 'clientId', declared: false },
  host: { audit: 'value', shown: 'host', input: 'host', declared: true },
  location: { audit: 'value', shown: 'location', input: 'location', declared: true },
  scheme: { audit: 'value', shown: 'scheme', input: 'scheme', declared: true },
  remark: { audit: 'value', shown: 'remark', input: 'remark', declared: true },
  target: { audit: 'value', shown: 'targets', input: 'targets', declared: true },
  localProxy: { audit: 'value', shown: 'localProxy', input: 'localProxy', declared: false },
  headerChange: { audit: 'secret', shown: 'headers', input: 'headers', declared: true },
  hostChange: { audit: 'value', shown: 'hostChange', input: 'hostChange', declared: true },
  keyFilePath: { audit: 'secret', shown: 'privateKeyPath', input: 'privateKey', declared: true },
  certFilePath: { audit: 'secret', shown: 'certificatePath', input: 'certificate', declared: true },
  autoHttps: { audit: 'value', shown: 'autoHttps', input: 'autoHttps', declared: true },
  acme: { audit: 'value', shown: 'acme', input: 'acme', declared: true },
  namedByAdmin: { audit: 'value', shown: null, input: null, declared: false },
  enabled: { audit: 'value', shown: 'enabled', input: null, declared: false },
  createdAt: { audit: 'none', shown: 'createdAt', input: null, declared: false },
  inletBytes: { audit: 'none', shown: 'runtime', input: null, declared: false },
  exportBytes: { audit: 'none', shown: 'runtime', input: null, declared: false },
  platformDomainId: { audit: 'value', shown: 'platformDomainId', input: 'platformDomainId', declared: true },
  platformPrefix: { audit: 'value', shown: 'platformPrefix', input: 'platformPrefix', declared: true },
  noStore: { audit: 'value', shown: 'noStore', input: null, declared: false },
  rate: { audit: 'none', shown: 'runtime', input: null, declared: false },
  connections: { audit: 'none', shown: 'runtime', input: null, declared: false },
  ownerId: { audit: 'none', shown: null, input: null, declared: false },
  clientKey: { audit: 'none', shown: null, input: null, declared: false },
  clientOnline: { audit: 'none', shown: null, input: null, declared: false },
} as const satisfies ColumnUses<Host, {
  /** An agent can declare it in its configuration file (wire/declared.ts). */
  readonly declared: boolean;
}>;
