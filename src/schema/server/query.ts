import { builder } from '../builder.ts';
import type { SchemaSettings } from '../services.ts';

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
  }),
});

builder.queryField('server', (t) => t.field({
  type: Server,
  authScopes: { clientLogin: true },
  description: 'The server that answers.',
  resolve: (_root, _args, { settings }) => settings,
}));
