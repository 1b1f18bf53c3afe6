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
import { enumOf } from '../values/enum.ts';
import { expectedVersion } from '../values/version.ts';
import { creating, dryRun, updating } from '../writes/dry-run.ts';
import { bulkIds, bulkResults, changeEach } from '../writes/bulk.ts';

const id = { required: true, description: "The tunnel's id." } as const;

/** Changes of several tunnels. */
const changes = { start: startTunnel, stop: stopTunnel, delete: deleteTunnel } as const;

const TunnelChange = enumOf<keyof typeof changes>('TunnelChange', 'A change of several tunnels.', {
  start: 'Starts them.',
  stop: 'Stops them: closes their listeners and connections.',
  delete: 'Stops and deletes them.',
});

builder.mutationFields((t) => ({
  createTunnel: t.field({
    type: Tunnel,
    authScopes: { clientLogin: true },
    description: 'Creates a tunnel and starts it.',
    args: {
      input: t.arg({ type: CreateTunnelInput, required: true, description: 'The values of the new record.' }),
      dryRun: t.arg.boolean(dryRun),
    },
    resolve: (_root, { input, dryRun: isDry }, context) => {
      const problems = new Problems();
      const values = tunnelValues(problems, withoutNulls(input));
      return creating(context, isDry, (within) => createTunnel(within, problems, values));
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
    args: {
      id: t.arg.id(id),
      expectedVersion: t.arg.string(expectedVersion),
      input: t.arg({ type: UpdateTunnelInput, required: true, description: 'The fields to change.' }),
      dryRun: t.arg.boolean(dryRun),
    },
    resolve: (_root, args, context) => {
      const problems = new Problems();
      return updateTunnel(updating(context, args.dryRun), problems, idOf('id', args.id), tunnelValues(problems, args.input), {
        expected: args.expectedVersion,
      });
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
  changeTunnels: t.field({
    ...bulkResults,
    authScopes: { clientLogin: true },
    description: 'Starts, stops or deletes several tunnels, as `startTunnel`, `stopTunnel` and `deleteTunnel` do. One that fails does not affect the others.',
    args: { ids: t.arg.idList(bulkIds), change: t.arg({ type: TunnelChange, required: true, description: 'The change.' }) },
    resolve: (_root, { ids, change }, context) => changeEach(context, ids, (id) => changes[change](context, id)),
  }),
}));
