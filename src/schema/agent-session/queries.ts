import { builder } from '../builder.ts';
import { checkTrafficAccess } from '../traffic/rules.ts';
import { idOf } from '../values/ids.ts';
import { AgentSession } from './type.ts';

builder.queryField('agentSessions', (t) =>
  t.field({
    type: [AgentSession],
    extensions: { items: 10 },
    authScopes: { clientLogin: true },
    description: "The last 10 sessions of a client's agent since the server started, the newest first.",
    args: { clientId: t.arg.id({ required: true, description: "The client's id." }) },
    resolve: async (_root, { clientId }, context) => {
      const sessions = await context.engine.agentSessions(await checkTrafficAccess(context, 'client', idOf('clientId', clientId)));
      return [...sessions];
    },
  }));
