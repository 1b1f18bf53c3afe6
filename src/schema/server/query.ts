import { builder } from '../builder.ts';
import type { SchemaSettings } from '../services.ts';
import { Counts } from './counts.ts';

const Server = builder.objectRef<SchemaSettings>('Server').implement({
  description: 'The server that answers.',
  fields: (t) => ({
    version: t.exposeString('version', { description: "The program's version." }),
    bridgeType: t.string({ description: 'The transport that agents connect by.', resolve: () => 'tcp' }),
    bridgePort: t.field({ type: 'Port', description: 'The port that agents connect to.', resolve: ({ bridge }) => bridge.port }),
    bridgeTlsPort: t.field({ type: 'Port', description: 'The port that agents connect to over TLS 1.3.', resolve: ({ bridge }) => bridge.tls.port }),
    bridgeTlsFingerprint: t.string({
      description: 'SHA-256 of the certificate that agents see there, as 64 hex digits: what `adit agent --tls-fingerprint` pins.', resolve: ({ bridge }) => bridge.tls.fingerprint,
    }),
    publicAddress: t.string({
      nullable: true, description: 'The name or address by which agents and visitors reach the server: the host of the server URL of the global settings, else of the setting `ADIT_PUBLIC_URL`; null = neither is set.',
      resolve: async (_settings, _args, context) => await context.serverName() || null,
    }),
    hostHttpPort: t.field({ type: 'Port', nullable: true, description: 'The port where visitors reach hosts over HTTP; null = there is none.', resolve: ({ hostPorts }) => hostPorts.httpPort || null }),
    hostHttpsPort: t.field({ type: 'Port', nullable: true, description: 'The port where visitors reach hosts over HTTPS; null = there is none.', resolve: ({ hostPorts }) => hostPorts.httpsPort || null }),
    counts: t.field({
      type: Counts,
      description: "How many records there are, and in which state. Ordinary users and the web logins of clients get the numbers of what is theirs. States are those of at most a second ago.",
      resolve: (_settings, _args, context) => context.counts(),
    }),
  }),
});

builder.queryField('server', (t) => t.field({
  type: Server,
  authScopes: { clientLogin: true },
  description: 'The server that answers.',
  resolve: (_root, _args, { settings }) => settings,
}));
