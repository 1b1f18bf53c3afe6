import { builder } from '../builder.ts';
import { invalidInput } from '../errors.ts';
import { idOf } from '../values/ids.ts';
import { Problems } from '../values/problems.ts';
import { CreatedEnrolmentType } from './type.ts';
import { createEnrolment, lifetime, revokeEnrolment } from './write.ts';

const CreateEnrolmentInput = builder.inputType('CreateEnrolmentInput', {
  description: 'The values of a new enrolment. Fields that are absent or null get their default.',
  fields: (t) => ({
    clientId: t.id({ required: true, description: 'The client whose agent is installed.' }),
    expiresInSeconds: t.int({
      defaultValue: lifetime.normal,
      description: `How long the code can be used: ${lifetime.least} to ${lifetime.most} seconds.`,
    }),
  }),
});

builder.mutationFields((t) => ({
  createEnrolment: t.field({
    type: CreatedEnrolmentType,
    authScopes: { user: true },
    description:
      "Creates a code that installs the agent of a client on one machine, and the line to run there. The code gives access to the client's key, so tokens without `secrets` may not create one.",
    args: { input: t.arg({ type: CreateEnrolmentInput, required: true, description: 'The values of the new record.' }) },
    resolve: (_root, { input }, context) => {
      const problems = new Problems();
      return problems.during(async () => {
        const clientId = problems.check(() => idOf('clientId', input.clientId));
        const seconds = input.expiresInSeconds ?? lifetime.normal;
        problems.check(() => {
          if (seconds < lifetime.least || seconds > lifetime.most) throw invalidInput('expiresInSeconds', `must be from ${lifetime.least} to ${lifetime.most}`);
        });
        if (clientId === undefined) throw problems.error();
        problems.end();
        return createEnrolment(context, clientId, seconds);
      });
    },
  }),
  revokeEnrolment: t.id({
    authScopes: { user: true },
    description: 'Deletes a code, used or not, which can not be used after that. An agent that it installed keeps working. Returns the id.',
    args: { id: t.arg.id({ required: true, description: "The enrolment's id." }) },
    resolve: (_root, args, context) => revokeEnrolment(context, idOf('id', args.id)),
  }),
}));
