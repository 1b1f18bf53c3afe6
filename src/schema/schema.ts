import type { GraphQLSchema } from 'graphql';
import { boundLists } from './bounded-lists.ts';
import { builder } from './builder.ts';
// Each of these declares its part of the schema on the builder.
/* oxlint-disable import/no-unassigned-import */
import './scalars.ts';
import './error-code.ts';
import './server/query.ts';
import './user/queries.ts';
import './user/mutations.ts';
import './client/queries.ts';
import './client/mutations.ts';
import './client/visitors.ts';
import './access/fields.ts';
import './token/fields.ts';
import './tunnel/queries.ts';
import './tunnel/mutations.ts';
import './host/queries.ts';
import './host/mutations.ts';
import './global/settings.ts';
import './diagnosis/queries.ts';
import './audit/queries.ts';
import './traffic/queries.ts';
import './subscriptions/subscriptions.ts';
import './subscriptions/traffic.ts';
import './connection/connections.ts';
import './wall/query.ts';
/* oxlint-enable import/no-unassigned-import */

/** The GraphQL schema: everything the API can do. Its text is `schema.graphql` beside this file, in the order of declaration. */
export const schema = boundLists(scoped(builder.toSchema({ sortSchema: false })));

/** Fails the start when a root field doesn't say who may call it: forgetting that must not open it to everybody. */
function scoped(built: GraphQLSchema): GraphQLSchema {
  for (const type of [built.getQueryType(), built.getMutationType(), built.getSubscriptionType()]) {
    for (const field of Object.values(type?.getFields() ?? {})) {
      const options: unknown = field.extensions['pothosOptions'];
      if (typeof options !== 'object' || options === null || !('authScopes' in options)) {
        throw new Error(`${type?.name}.${field.name} does not say who may call it: give it authScopes`);
      }
    }
  }
  return built;
}
