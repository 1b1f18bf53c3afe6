import { resetHostTraffic } from '../traffic/write.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { CreateHostInput, UpdateHostInput, hostValues } from './input.ts';
import { Host } from './type.ts';
import { createHost, deleteHost, retryAcme, setHostEnabled, updateHost } from './write.ts';
import { withoutNulls } from '../values/empty.ts';
import { idOf } from '../values/ids.ts';
import { Problems } from '../values/problems.ts';
import { enumOf } from '../values/enum.ts';
import { expectedVersion } from '../values/version.ts';
import { creating, dryRun, updating } from '../writes/dry-run.ts';
import { bulkIds, bulkResults, changeEach } from '../writes/bulk.ts';

const id = { required: true, description: "The host's id." } as const;

const unpaired = {
  defaultValue: false,
  description: 'Stores a certificate without a private key, or a key without a certificate, as the legacy API does; otherwise the missing one is an error.',
} as const;

/** Changes of several hosts. */
const changes = {
  start: (context: Context, id: number) => setHostEnabled(context, id, true),
  stop: (context: Context, id: number) => setHostEnabled(context, id, false),
  delete: deleteHost,
} as const;

const HostChange = enumOf<keyof typeof changes>('HostChange', 'A change of several hosts.', {
  start: 'Starts them.',
  stop: 'Stops them: their requests are no longer routed.',
  delete: 'Stops and deletes them.',
});

builder.mutationFields((t) => ({
  createHost: t.field({
    type: Host,
    authScopes: { clientLogin: true },
    description: 'Creates a host and starts it.',
    args: {
      input: t.arg({ type: CreateHostInput, required: true, description: 'The values of the new record.' }),
      unpaired: t.arg.boolean(unpaired),
      dryRun: t.arg.boolean(dryRun),
    },
    resolve: (_root, { input, unpaired: allowed, dryRun: isDry }, context) => {
      const problems = new Problems();
      const values = hostValues(problems, withoutNulls(input));
      return creating(context, isDry, (within) => createHost(within, problems, values, { unpaired: allowed }));
    },
  }),
  updateHost: t.field({
    type: Host,
    authScopes: { clientLogin: true },
    description: 'Changes a host. A stopped host stays stopped.',
    args: {
      id: t.arg.id(id),
      expectedVersion: t.arg.string(expectedVersion),
      input: t.arg({ type: UpdateHostInput, required: true, description: 'The fields to change.' }),
      unpaired: t.arg.boolean(unpaired),
      dryRun: t.arg.boolean(dryRun),
    },
    resolve: (_root, args, context) => {
      const problems = new Problems();
      return updateHost(updating(context, args.dryRun), problems, idOf('id', args.id), hostValues(problems, args.input), {
        expected: args.expectedVersion,
        unpaired: args.unpaired,
      });
    },
  }),
  startHost: t.field({
    type: Host,
    authScopes: { clientLogin: true },
    description: 'Starts a host. Does nothing if it is already started.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => setHostEnabled(context, idOf('id', args.id), true),
  }),
  stopHost: t.field({
    type: Host,
    authScopes: { clientLogin: true },
    description: 'Stops a host: its requests are no longer routed.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => setHostEnabled(context, idOf('id', args.id), false),
  }),
  retryAcme: t.field({
    type: Host,
    authScopes: { clientLogin: true },
    description: "Attempts the failed ACME order of a host's certificate now, instead of after its delay. At most three times per hour for a name.",
    args: { hostId: t.arg.id(id) },
    resolve: (_root, args, context) => retryAcme(context, idOf('hostId', args.hostId)),
  }),
  resetHostTraffic: t.field({
    type: Host,
    authScopes: { clientLogin: true },
    description: 'Resets the traffic counters of a host to 0. Those of its client, and `traffic`, do not change.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => resetHostTraffic(context, idOf('id', args.id)),
  }),
  deleteHost: t.id({
    authScopes: { clientLogin: true },
    description: 'Deletes a host. Returns the id.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => deleteHost(context, idOf('id', args.id)),
  }),
  changeHosts: t.field({
    ...bulkResults,
    authScopes: { clientLogin: true },
    description: 'Starts, stops or deletes several hosts, as `startHost`, `stopHost` and `deleteHost` do. One that fails does not affect the others.',
    args: { ids: t.arg.idList(bulkIds), change: t.arg({ type: HostChange, required: true, description: 'The change.' }) },
    resolve: (_root, { ids, change }, context) => changeEach(context, ids, (id) => changes[change](context, id)),
  }),
}));
