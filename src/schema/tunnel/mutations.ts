import { resetTunnelTraffic } from '../traffic/write.ts';
import { builder } from '../builder.ts';
import { copyTunnel, createTunnel } from './write.ts';
import { CreateTunnelInput, UpdateTunnelInput, tunnelValues } from './input.ts';
import { startTunnel, stopTunnel } from './write.ts';
import { Tunnel } from './type.ts';
import { deleteTunnel, updateTunnel } from './write.ts';
import { withoutNulls } from '../values/empty.ts';
import { idOf } from '../values/ids.ts';
import { Problems } from '../values/problems.ts';

const id = { required: true, description: "The tunnel's id." } as const;

builder.mutationFields((t) => ({
  createTunnel: t.field({
    type: Tunnel,
    authScopes: { clientLogin: true },
    description: 'Creates a tunnel and starts it.',
    args: { input: t.arg({ type: CreateTunnelInput, required: true, description: 'The values of the new record.' }) },
    resolve: (_root, { input }, context) => {
      const problems = new Problems();
      return createTunnel(context, problems, tunnelValues(problems, withoutNulls(input)));
    },
  }),
  copyTunnel: t.field({
    type: Tunnel,
    authScopes: { clientLogin: true },
    description: 'Creates a copy of a tunnel on a newly assigned port, and starts it.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => copyTunnel(context, idOf('id', args.id)),
  }),
  updateTunnel: t.field({
    type: Tunnel,
    authScopes: { clientLogin: true },
    description: 'Changes a tunnel. A stopped tunnel stays stopped. The listener of a started tunnel is reopened only if its port or address changes.',
    args: { id: t.arg.id(id), input: t.arg({ type: UpdateTunnelInput, required: true, description: 'The fields to change.' }) },
    resolve: (_root, args, context) => {
      const problems = new Problems();
      return updateTunnel(context, problems, idOf('id', args.id), tunnelValues(problems, args.input));
    },
  }),
  startTunnel: t.field({
    type: Tunnel,
    authScopes: { clientLogin: true },
    description: 'Starts a tunnel. Does nothing if it is already running.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => startTunnel(context, idOf('id', args.id)),
  }),
  stopTunnel: t.field({
    type: Tunnel,
    authScopes: { clientLogin: true },
    description: 'Stops a tunnel: closes its listener and its connections.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => stopTunnel(context, idOf('id', args.id)),
  }),
  resetTunnelTraffic: t.field({
    type: Tunnel,
    authScopes: { clientLogin: true },
    description: 'Resets the traffic counters of a tunnel to 0. Those of its client, and `traffic`, do not change.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => resetTunnelTraffic(context, idOf('id', args.id)),
  }),
  deleteTunnel: t.id({
    authScopes: { clientLogin: true },
    description: 'Stops and deletes a tunnel. Returns the id.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => deleteTunnel(context, idOf('id', args.id)),
  }),
}));
