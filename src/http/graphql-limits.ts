import { costLimitPlugin } from '@escape.tech/graphql-armor-cost-limit';
import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthPlugin } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesPlugin } from '@escape.tech/graphql-armor-max-directives';
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens';
import type { Plugin } from 'graphql-yoga';

/** What one GraphQL operation may hold. GraphiQL's own introspection fits in. */
export const limits = {
  /** Levels of fields. */
  depth: 10,
  aliases: 30,
  directives: 30,
  /** 1 for a field, 2 for one with fields below it, half as much again on each level further down. */
  cost: 5000,
  /** Words and marks of the text, checked before it is parsed any further. */
  tokens: 2000,
} as const;

/** Refuses operations that are too large before any of them runs. */
export const queryLimits: Plugin[] = [
  maxTokensPlugin({ n: limits.tokens }),
  maxDepthPlugin({ n: limits.depth }),
  maxAliasesPlugin({ n: limits.aliases }),
  maxDirectivesPlugin({ n: limits.directives }),
  costLimitPlugin({ maxCost: limits.cost }),
];
