import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { resetClientTraffic } from '../traffic/write.ts';
import { withoutNulls } from '../values/empty.ts';
import { idOf } from '../values/ids.ts';
import { Problems } from '../values/problems.ts';
import { enumOf } from '../values/enum.ts';
import { expectedVersion } from '../values/version.ts';
import { creating, dryRun, updating } from '../writes/dry-run.ts';
import { bulkIds, bulkResults, changeEach } from '../writes/bulk.ts';
import { CreateClientInput, UpdateClientInput, clientValues } from './input.ts';
import { Client } from './type.ts';
import { allowVisitor } from './ip-white-password.ts';
import { createClient, deleteClient, setClientEnabled, updateClient } from './write.ts';
import { VisitorAnswer } from './enums.ts';

const id = { required: true, description: "The client's id." } as const;

/** Changes of several clients. */
const changes = {
  enable: (context: Context, id: number) => setClientEnabled(context, id, true),
  disable: (context: Context, id: number) => setClientEnabled(context, id, false),
  delete: deleteClient,
} as const;

const ClientChange = enumOf<keyof typeof changes>('ClientChange', 'A change of several clients.', {
  enable: 'Enables them.',
  disable: 'Disables them: their agents are disconnected and refused.',
  delete: 'Deletes them, with their tunnels and hosts.',
});

builder.mutationFields((t) => ({
  createClient: t.field({
    type: Client,
    authScopes: { clientLogin: true },
    description: 'Creates a client and enables it.',
    args: {
      input: t.arg({ type: CreateClientInput, required: true, description: 'The values of the new record.' }),
      dryRun: t.arg.boolean(dryRun),
    },
    resolve: (_root, { input, dryRun: isDry }, context) => {
      const problems = new Problems();
      const values = clientValues(problems, withoutNulls(input));
      return creating(context, isDry, (within) => createClient(within, problems, values));
    },
  }),
  updateClient: t.field({
    type: Client,
    authScopes: { clientLogin: true },
    description: 'Changes a client.',
    args: {
      id: t.arg.id(id),
      expectedVersion: t.arg.string(expectedVersion),
      input: t.arg({ type: UpdateClientInput, required: true, description: 'The fields to change.' }),
      dryRun: t.arg.boolean(dryRun),
    },
    resolve: (_root, args, context) => {
      const problems = new Problems();
      return updateClient(updating(context, args.dryRun), problems, idOf('id', args.id), clientValues(problems, args.input), {
        expected: args.expectedVersion,
      });
    },
  }),
  setClientEnabled: t.field({
    type: Client,
    authScopes: { user: true },
    description: 'Enables or disables a client. The agent of a disabled client is disconnected and refused. Nothing is deleted.',
    args: { id: t.arg.id(id), enabled: t.arg.boolean({ required: true, description: 'True = enable, false = disable.' }) },
    resolve: (_root, args, context) => setClientEnabled(context, idOf('id', args.id), args.enabled),
  }),
  resetClientTraffic: t.field({
    type: Client,
    authScopes: { clientLogin: true },
    description:
      'Resets the traffic counters of a client to 0, and with them the traffic that counts toward its flow limit. For clients with a flow limit, only administrators may do this. The counters of its tunnels and hosts, and `traffic`, do not change.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => resetClientTraffic(context, idOf('id', args.id)),
  }),
  deleteClient: t.id({
    authScopes: { user: true },
    description: 'Deletes a client with its tunnels and hosts, and disconnects its agent. Returns the id.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => deleteClient(context, idOf('id', args.id)),
  }),
  changeClients: t.field({
    ...bulkResults,
    authScopes: { user: true },
    description: 'Enables, disables or deletes several clients, as `setClientEnabled` and `deleteClient` do. One that fails does not affect the others.',
    args: { ids: t.arg.idList(bulkIds), change: t.arg({ type: ClientChange, required: true, description: 'The change.' }) },
    resolve: (_root, { ids, change }, context) => changeEach(context, ids, (id) => changes[change](context, id)),
  }),
  allowVisitor: t.field({
    type: VisitorAnswer,
    // Visitors are not authenticated; the password alone decides.
    skipTypeScopes: true,
    authScopes: { anyone: true },
    description: "Admits an address that is not on a client's allowlist for two hours.",
    args: {
      keyDigest: t.arg.string({ required: true, description: "MD5 of the client's verification key, in hex." }),
      password: t.arg.string({ required: true, description: 'The `allowlistPassword` of the client.' }),
      address: t.arg.string({ description: "The address to admit; absent = the caller's." }),
    },
    resolve: (_root, { keyDigest, password, address }, context) => allowVisitor(context, keyDigest, password, address ?? context.caller.address ?? ''),
  }),
}));
