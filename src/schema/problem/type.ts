import { mayUseClient } from '../../rules/ownership.ts';
import type { Client as ClientRow, Host as HostRow, Tunnel as TunnelRow, User as UserRow } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';
import { Client } from '../client/type.ts';
import type { Context } from '../context.ts';
import { Host } from '../host/type.ts';
import { Tunnel } from '../tunnel/type.ts';
import { User } from '../user/type.ts';
import { textOf } from '../values/coded-text.ts';
import { paramsField } from '../values/text-parameters.ts';
import { enumOf } from '../values/enum.ts';
import type { ProblemPage } from './board.ts';
import { fixesOf, isBroken, type Problem, type ProblemFix, problemTexts } from './codes.ts';

/** What is wrong. */
export const ProblemCode = enumOf('ProblemCode', 'What is wrong. The descriptions are the English texts; their parameters are in braces.', problemTexts);

/** How serious a problem is. */
export const ProblemSeverity = builder.enumType('ProblemSeverity', {
  description: 'How serious a problem is.',
  values: {
    BROKEN: { description: 'Visitors are refused because of it.' },
    SOON: { description: 'Nobody suffers yet.' },
  },
});

const ProblemFixType = enumOf<ProblemFix>('ProblemFix', 'How to fix a problem.', {
  startAgent: 'Start the agent with the command of its client (`agentCommand`), and see that its machine and network are up.',
  diagnose: 'Diagnose the tunnel or host: the result names what stops visitors.',
  changeTunnel: 'Give the tunnel another port, or free the port.',
  replaceCertificate: 'Replace the certificate and its key, or fix the files.',
  retryAcme: 'Fix why the ACME order failed (`certificate.acme.problem`), then retry it.',
  raiseLimit: 'Raise the limit of the client, or reset its traffic.',
  extendClient: 'Set a later expiry of the client.',
  extendUser: 'Set a later expiry of the user.',
  deleteUnused: 'Delete tunnels and hosts that are not used.',
  freeLockouts: 'See who is locked out, and end lockouts of people you know.',
  askAdministrator: 'Ask an administrator.',
});

/** Identifies a problem as long as it lasts. */
export function problemId({ code, of }: Problem): string {
  return `${code}:${of.kind}:${of.id}`;
}

/** How serious a problem is. */
export function severityOf({ code }: Problem): 'BROKEN' | 'SOON' {
  return isBroken(code) ? 'BROKEN' : 'SOON';
}

/** The client with a problem; null = another record has it, or the caller may no longer see it. */
export async function clientOf({ of }: Problem, { caller, loaders }: Context): Promise<ClientRow | null> {
  const row = of.kind === 'client' ? await loaders.clients.load(of.id) : undefined;
  return row !== undefined && mayUseClient(caller, row) ? row : null;
}

/** The tunnel with a problem, in the same way. */
export function tunnelOf({ of }: Problem, context: Context): Promise<TunnelRow | null> {
  return ownRoute(of.kind === 'tunnel' ? context.loaders.tunnels.load(of.id) : undefined, context);
}

/** The host with a problem, in the same way. */
export function hostOf({ of }: Problem, context: Context): Promise<HostRow | null> {
  return ownRoute(of.kind === 'host' ? context.loaders.hosts.load(of.id) : undefined, context);
}

async function ownRoute<Row extends { readonly clientId: number }>(
  loading: Promise<Row | undefined> | undefined,
  { caller, loaders }: Context,
): Promise<Row | null> {
  const row = await loading;
  const client = row && await loaders.clients.load(row.clientId);
  return row !== undefined && client !== undefined && mayUseClient(caller, client) ? row : null;
}

async function userOf({ of }: Problem, { caller, loaders }: Context): Promise<UserRow | null> {
  if (of.kind !== 'user' || !(caller.kind === 'admin' || (caller.kind === 'user' && caller.userId === of.id))) return null;
  return await loaders.users.load(of.id) ?? null;
}

const ProblemType = builder.objectRef<Problem>('Problem').implement({
  description: 'Something that is wrong with a client, tunnel, host or user, or with the server.',
  fields: (t) => ({
    id: t.id({ description: 'The same as long as the problem lasts.', resolve: problemId }),
    code: t.field({ type: ProblemCode, description: 'What is wrong.', resolve: ({ code }) => code }),
    severity: t.field({ type: ProblemSeverity, description: 'How serious it is.', resolve: severityOf }),
    params: t.field(paramsField),
    text: t.string({ description: 'What is wrong, in English.', resolve: (found) => textOf(problemTexts, found) }),
    since: t.expose('since', { type: 'DateTime', nullable: true, description: 'Since when; null = unknown.' }),
    fixes: t.field({
      type: [ProblemFixType],
      extensions: { items: 3 },
      description: 'How to fix it, the best way first. What only administrators can do is replaced for other callers.',
      resolve: (found, _args, { caller }) => fixesOf(found, caller.kind === 'admin'),
    }),
    client: t.field({
      type: Client,
      nullable: true,
      description: 'The client that has the problem.',
      resolve: (found, _args, context) => clientOf(found, context),
    }),
    tunnel: t.field({
      type: Tunnel,
      nullable: true,
      description: 'The tunnel that has the problem.',
      resolve: (found, _args, context) => tunnelOf(found, context),
    }),
    host: t.field({ type: Host, nullable: true, description: 'The host that has the problem.', resolve: (found, _args, context) => hostOf(found, context) }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user who has the problem.',
      resolve: (found, _args, context) => userOf(found, context),
    }),
  }),
});

/** A page of problems. */
export const ProblemPageType = builder.objectRef<ProblemPage>('ProblemPage').implement({
  description: 'A page of the problems, those first because of which visitors are refused.',
  fields: (t) => ({
    rows: t.field({ type: [ProblemType], description: 'The problems on the page.', resolve: ({ rows }) => [...rows] }),
    total: t.exposeInt('total', { description: 'The number of all problems.' }),
    broken: t.exposeInt('broken', { description: 'The number of those with the severity BROKEN.' }),
  }),
});
