import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthPlugin } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesPlugin } from '@escape.tech/graphql-armor-max-directives';
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens';
import type { Plugin } from 'graphql-yoga';

/** Limits of a GraphQL operation. GraphiQL's introspection query is within them. */
export const limits = {
  /** Levels of fields. */
  depth: 10,
  aliases: 30,
  directives: 30,
  /** Maximum values in the result; see graphql-cost.ts. */
  cost: 30_000,
  /** The same for each event of a subscription. */
  eventCost: 3000,
  /** Tokens of the text; checked before further parsing. */
  tokens: 1000,
} as const;

/** Refuses operations whose text is too large. graphql-operations.ts checks the cost. */
export const queryLimits: Plugin[] = [
  maxTokensPlugin({ n: limits.tokens }),
  maxDepthPlugin({ n: limits.depth }),
  maxAliasesPlugin({ n: limits.aliases }),
  maxDirectivesPlugin({ n: limits.directives }),
];
