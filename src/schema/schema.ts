import type { GraphQLSchema } from 'graphql';
import { boundLists } from './limits/bounded-lists.ts';
import { builder } from './builder.ts';
// Each of these modules declares its part of the schema on the builder.
/* oxlint-disable import/no-unassigned-import */
import './scalars.ts';
import './server/queries.ts';
import './node/mutations.ts';
import './node/queries.ts';
import './user/queries.ts';
import './user/mutations.ts';
import './client/queries.ts';
import './client/mutations.ts';
import './access/queries.ts';
import './access/mutations.ts';
import './access/session-list.ts';
import './token/queries.ts';
import './token/mutations.ts';
import './enrolment/queries.ts';
import './enrolment/mutations.ts';
import './tunnel/queries.ts';
import './tunnel/mutations.ts';
import './host/queries.ts';
import './host/certificate-check.ts';
import './host/mutations.ts';
import './platform-domain/queries.ts';
import './global/queries.ts';
import './global/mutations.ts';
import './diagnosis/queries.ts';
import './audit/queries.ts';
import './refusals/queries.ts';
import './traffic/queries.ts';
import './subscriptions/subscriptions.ts';
import './traffic/subscriptions.ts';
import './agent-session/queries.ts';
import './connection/queries.ts';
import './connection/mutations.ts';
import './import/mutations.ts';
import './wall/queries.ts';
import './impact/queries.ts';
import './search/queries.ts';
import './problem/queries.ts';
/* oxlint-enable import/no-unassigned-import */

/** The GraphQL schema. Its text is `schema.graphql` next to this file, in the order of declaration. */
export const schema = boundLists(scoped(builder.toSchema({ sortSchema: false })));

/** Throws if a root field has no scope, so that no field is public by mistake. */
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
