import { targetLines } from '../../rules/targets.ts';
import { usableClient } from '../access/records.ts';
import { builder } from '../builder.ts';
import { invalidInput } from '../errors.ts';
import { idOf } from '../values/ids.ts';
import { targetsOf } from '../values/input.ts';
import { diagnoseHost } from './host.ts';
import { diagnoseTunnel, tunnelAt } from './tunnel.ts';
import { PROBE_TARGETS, probeTargets, TargetProbeType } from './probe.ts';
import { HostDiagnosisType, RequestScheme, TunnelDiagnosisType } from './type.ts';

const visitorAddress = "The visitor's address, for the checks that depend on it.";
const lookUp =
  'Look the name up in the DNS and, if it leads to this server, connect to the port: the check NAME_AND_PORT. 10 names at once, then one every 5 seconds.';
const probe = 'Dial the targets through the agent, with a timeout of 5 seconds each. Otherwise no connection is made.';

builder.queryFields((t) => ({
  diagnoseHost: t.field({
    type: HostDiagnosisType,
    authScopes: { clientLogin: true },
    description: 'Returns where a request to a domain would be routed, and the result of each check on the way.',
    args: {
      host: t.arg.string({ required: true, description: 'The Host header. A port is ignored.' }),
      path: t.arg.string({ defaultValue: '/', description: 'The path, with or without a query string.' }),
      scheme: t.arg({ type: RequestScheme, required: true, description: 'The protocol.' }),
      visitorAddress: t.arg.string({ description: visitorAddress }),
      probe: t.arg.boolean({ defaultValue: false, description: probe }),
      lookUp: t.arg.boolean({ defaultValue: false, description: lookUp }),
    },
    resolve: (_root, args, context) =>
      diagnoseHost(context, {
        host: args.host,
        path: args.path ?? '/',
        scheme: args.scheme,
        visitorAddress: args.visitorAddress ?? undefined,
        probe: args.probe ?? false,
        lookUp: args.lookUp ?? false,
      }),
  }),
  diagnoseTunnel: t.field({
    type: TunnelDiagnosisType,
    authScopes: { clientLogin: true },
    nullable: true,
    description: 'Returns the result of each check of a connection to a tunnel, named by its id or its port; null = no such tunnel.',
    args: {
      id: t.arg.id({ description: "The tunnel's id." }),
      port: t.arg({ type: 'Port', description: 'Its port. Of several tunnels with this port, the one with the lowest id.' }),
      visitorAddress: t.arg.string({ description: visitorAddress }),
      probe: t.arg.boolean({ defaultValue: false, description: probe }),
    },
    resolve: async (_root, args, context) => {
      const given = idOf('id', args.id) ?? undefined;
      if ((given === undefined) === (typeof args.port !== 'number')) throw invalidInput('id', 'either id or port', {});
      const id = given ?? await tunnelAt(context, args.port ?? 0);
      return id === undefined ? null : diagnoseTunnel(context, id, args.visitorAddress ?? undefined, args.probe ?? false);
    },
  }),
}));

// A mutation, since it makes connections to whatever the caller names: not for read-only callers.
builder.mutationField('probeTargets', (t) =>
  t.field({
    type: [TargetProbeType],
    extensions: { items: PROBE_TARGETS },
    authScopes: { clientLogin: true },
    description: "Dials targets through a client's agent, before they are stored. Each connection is closed at once. Nothing is changed.",
    args: {
      clientId: t.arg.id({ required: true, description: "The client's id." }),
      targets: t.arg.stringList({ required: true, description: `The targets: host:port, or just a port, which means 127.0.0.1; at most ${PROBE_TARGETS}.` }),
    },
    resolve: async (_root, { clientId, targets }, context) => {
      if (targetLines(targets).length > PROBE_TARGETS) throw invalidInput('targets', `at most ${PROBE_TARGETS} targets at a time`, { most: PROBE_TARGETS });
      const { id } = await usableClient(context, context.store.db, idOf('clientId', clientId));
      return probeTargets(context, id, targetsOf('targets', targets) ?? '');
    },
  }));
