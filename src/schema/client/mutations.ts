import { builder } from '../builder.ts';
import { resetClientTraffic } from '../traffic/write.ts';
import { idOf } from '../values/ids.ts';
import { Problems } from '../values/problems.ts';
import { CreateClientInput, UpdateClientInput, clientValues } from './input.ts';
import { Client } from './type.ts';
import { allowVisitor } from './ip-white-password.ts';
import { createClient, deleteClient, setClientEnabled, updateClient } from './write.ts';
import { VisitorAnswer } from './enums.ts';

const id = { required: true, description: "The client's id." } as const;

builder.mutationFields((t) => ({
  createClient: t.field({
    type: Client,
    authScopes: { clientLogin: true },
    description: 'Makes a client. It is enabled.',
    args: { input: t.arg({ type: CreateClientInput, required: true, description: 'What it is to be.' }) },
    resolve: (_root, { input }, context) => {
      const problems = new Problems();
      return createClient(context, problems, clientValues(problems, input));
    },
  }),
  updateClient: t.field({
    type: Client,
    authScopes: { clientLogin: true },
    description: 'Changes a client.',
    args: { id: t.arg.id(id), input: t.arg({ type: UpdateClientInput, required: true, description: 'What is to change.' }) },
    resolve: (_root, args, context) => {
      const problems = new Problems();
      return updateClient(context, problems, idOf('id', args.id), clientValues(problems, args.input));
    },
  }),
  setClientEnabled: t.field({
    type: Client,
    authScopes: { user: true },
    description: 'Lets a client work, or refuses its agent and cuts it off. Nothing is deleted.',
    args: { id: t.arg.id(id), enabled: t.arg.boolean({ required: true, description: 'Whether it is to work.' }) },
    resolve: (_root, args, context) => setClientEnabled(context, idOf('id', args.id), args.enabled),
  }),
  resetClientTraffic: t.field({
    type: Client,
    authScopes: { clientLogin: true },
    description: 'Makes the counters of a client begin at 0, and with them what counts against its flow limit: while it has one, this is for administrators. The counters of its tunnels and hosts stay, and so does `traffic`.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => resetClientTraffic(context, idOf('id', args.id)),
  }),
  deleteClient: t.id({
    authScopes: { user: true },
    description: 'Deletes a client with its tunnels and hosts, and cuts its agent off. Answers the id.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => deleteClient(context, idOf('id', args.id)),
  }),
  allowVisitor: t.field({
    type: VisitorAnswer,
    // Visitors are not authenticated; the password alone decides.
    skipTypeScopes: true,
    authScopes: { anyone: true },
    description: 'Lets the visitors of an address in for two hours who would not be on the whitelist of a client.',
    args: {
      keyDigest: t.arg.string({ required: true, description: "MD5 of the client's verification key, in hex." }),
      password: t.arg.string({ required: true, description: 'The `ipWhitePassword` of the client.' }),
      address: t.arg.string({ description: "The address to allow; absent = the caller's." }),
    },
    resolve: (_root, { keyDigest, password, address }, context) => allowVisitor(context, keyDigest, password, address ?? context.caller.address ?? ''),
  }),
}));
