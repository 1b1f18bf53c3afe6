import { builder } from '../builder.ts';
import { idOf } from '../values/ids.ts';
import { diagnoseHost } from './host.ts';
import { diagnoseTunnel } from './tunnel.ts';
import { HostDiagnosisType, RequestScheme, TunnelDiagnosisType } from './type.ts';

const visitorAddress = 'The address of a visitor, to be held against the access lists.';
const probe = 'Dial the targets through the agent, at most 5 seconds each; without it no connection is made.';

builder.queryFields((t) => ({
  diagnoseHost: t.field({
    type: HostDiagnosisType,
    authScopes: { clientLogin: true },
    description: 'Says where a request to a domain goes and, gate by gate, what becomes of it.',
    args: {
      host: t.arg.string({ required: true, description: 'The Host header as received; a port is left out.' }),
      path: t.arg.string({ defaultValue: '/', description: 'The path, with or without a query.' }),
      scheme: t.arg({ type: RequestScheme, required: true, description: 'The protocol.' }),
      visitorAddress: t.arg.string({ description: visitorAddress }),
      probe: t.arg.boolean({ defaultValue: false, description: probe }),
    },
    resolve: (_root, args, context) => diagnoseHost(context, {
      host: args.host, path: args.path ?? '/', scheme: args.scheme, visitorAddress: args.visitorAddress ?? undefined, probe: args.probe ?? false,
    }),
  }),
  diagnoseTunnel: t.field({
    type: TunnelDiagnosisType,
    authScopes: { clientLogin: true },
    nullable: true,
    description: 'Says, gate by gate, what becomes of a connection to a tunnel; null when there is none with this id.',
    args: {
      id: t.arg.id({ required: true, description: "The tunnel's id." }),
      visitorAddress: t.arg.string({ description: visitorAddress }),
      probe: t.arg.boolean({ defaultValue: false, description: probe }),
    },
    resolve: (_root, args, context) => diagnoseTunnel(context, idOf('id', args.id), args.visitorAddress ?? undefined, args.probe ?? false),
  }),
}));
