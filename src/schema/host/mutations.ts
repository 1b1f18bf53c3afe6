import { resetHostTraffic } from '../traffic/write.ts';
import { builder } from '../builder.ts';
import { CreateHostInput, UpdateHostInput, hostValues } from './input.ts';
import { Host } from './type.ts';
import { createHost, deleteHost, setHostEnabled, updateHost } from './write.ts';
import { withoutNulls } from '../values/empty.ts';
import { idOf } from '../values/ids.ts';
import { Problems } from '../values/problems.ts';

const id = { required: true, description: "The host's id." } as const;

builder.mutationFields((t) => ({
  createHost: t.field({
    type: Host,
    authScopes: { clientLogin: true },
    description: 'Creates a host and starts it.',
    args: { input: t.arg({ type: CreateHostInput, required: true, description: 'The values of the new record.' }) },
    resolve: (_root, { input }, context) => {
      const problems = new Problems();
      return createHost(context, problems, hostValues(problems, withoutNulls(input)));
    },
  }),
  updateHost: t.field({
    type: Host,
    authScopes: { clientLogin: true },
    description: 'Changes a host. A stopped host stays stopped.',
    args: { id: t.arg.id(id), input: t.arg({ type: UpdateHostInput, required: true, description: 'The fields to change.' }) },
    resolve: (_root, args, context) => {
      const problems = new Problems();
      return updateHost(context, problems, idOf('id', args.id), hostValues(problems, args.input));
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
}));
