import { builder } from '../builder.ts';
import type { SchemaSettings } from '../context.ts';

const Server = builder.objectRef<SchemaSettings>('Server').implement({
  description: 'The server that answers.',
  fields: (t) => ({
    version: t.exposeString('version', { description: "The program's version." }),
    bridgeType: t.string({ description: 'The transport that agents connect by.', resolve: () => 'tcp' }),
    bridgePort: t.expose('bridgePort', { type: 'Port', description: 'The port that agents connect to.' }),
  }),
});

builder.queryField('server', (t) => t.field({
  type: Server,
  authScopes: { clientLogin: true },
  description: 'The server that answers.',
  resolve: (_root, _args, { settings }) => settings,
}));
