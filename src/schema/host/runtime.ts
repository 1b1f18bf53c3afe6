import type { HostState } from '../../engine/face.ts';
import { builder } from '../builder.ts';
import { Health } from '../health/type.ts';

/** What a host is doing now. */
export const HostRuntime = builder.objectRef<Pick<HostState, 'health'>>('HostRuntime').implement({
  description: 'What a host is doing now.',
  fields: (t) => ({
    health: t.field({
      type: Health, nullable: true, description: "The health of its targets; null = they are not checked, or the agent is away.", resolve: ({ health }) => health,
    }),
  }),
});
