import type { Services } from '../../src/schema/services.ts';

/** What the schema knows of the settings, unless a test says otherwise. */
export const schemaSettings: Services['settings'] = {
  version: '1.2.3',
  bridge: { port: 8024, tls: { port: 8025, fingerprint: 'ab'.repeat(32) } },
  hostPorts: { httpPort: 80, httpsPort: 443 },
  allowLocalProxy: false,
  acmeDirectory: '',
  startedAt: 0,
  allowPorts: [],
  adminUsername: 'admin',
  retention: { auditDays: 365, trafficMinuteDays: 2, trafficHourDays: 60, trafficDayDays: 1100 },
  publicUrl: '',
  versionKey: 'key',
  api: { publicUrl: '', basePath: '', ownTls: undefined },
};
