import { builder } from '../builder.ts';
import { Client } from '../client/type.ts';
import type { CreatedEnrolment } from './write.ts';

/** A code that installs an agent on one machine. The code itself is returned once, when it is created. */
export const Enrolment = builder.prismaObject('Enrolment', {
  description: "A code with which one machine gets a client's key, and installs the agent.",
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the enrolment.' }),
    client: t.field({
      type: Client,
      nullable: true,
      description: 'The client whose agent is installed.',
      resolve: async ({ clientId }, _args, { loaders }) => await loaders.clients.load(clientId) ?? null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the code expires, unless it is used before.' }),
    usedAt: t.expose('usedAt', { type: 'DateTime', nullable: true, description: 'When a machine used the code; null = not yet.' }),
    usedFrom: t.string({
      nullable: true,
      description: 'The address of the machine that used the code; null = none yet.',
      resolve: ({ usedFrom }) => usedFrom === '' ? null : usedFrom,
    }),
  }),
});

/** @see CreatedEnrolment */
export const CreatedEnrolmentType = builder.objectRef<CreatedEnrolment>('CreatedEnrolment').implement({
  description: 'A new enrolment, with its code.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'The code. It is returned only once.' }),
    command: t.exposeString('command', {
      nullable: true,
      description:
        'The line that installs the agent, for a POSIX shell as root. Null if machines cannot reach this API over HTTPS at a known address: an attacker who altered the script on its way would control the machine.',
    }),
    manualSteps: t.exposeString('manualSteps', {
      nullable: true,
      description: 'How to install the agent without the command, and why; null = the command works.',
    }),
    expiresAt: t.field({ type: 'DateTime', description: 'When the code expires.', resolve: ({ enrolment }) => enrolment.expiresAt }),
    enrolment: t.field({ type: Enrolment, description: 'The record.', resolve: ({ enrolment }) => enrolment }),
  }),
});
