import { randomUUID } from 'node:crypto';
import type { Response } from 'express';
import { createSourceEventStream, execute, type ExecutionArgs, type ExecutionResult, getOperationAST, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { shareOf, type Caller } from '../rules/caller.ts';
import { createContext } from '../schema/context.ts';
import { AditError } from '../schema/errors.ts';
import { HeldRecords } from '../schema/held-records.ts';
import { ResultLimits } from '../schema/result-limits.ts';
import type { Services } from '../schema/services.ts';
import { EventRate, EventResults } from './event-results.ts';
import { costOf } from './graphql-cost.ts';
import { limits } from './graphql-limits.ts';

/** What a request brings into its operation. */
export interface Origin {
  readonly caller: Caller;
  /** Where the result goes. */
  readonly response: Response;
  /** Lets the caller begin another operation. Called when the response ends; a subscription, which has limits of its own, calls it before. */
  readonly endSlot: () => void;
}

/**
 * Runs operations within what they may cost: refuses those that could return too much before they begin, makes results within their limits, part by
 * part, and gives resolvers the context of the schema.
 * @param stalledMs after which a subscriber that takes nothing is cut off
 */
export function runOperations(services: Services, stalledMs: number): Plugin<Origin, Origin> {
  const { turns } = services;
  const rate = new EventRate();
  const held = new HeldRecords();

  /** Runs an operation, or makes the result of one event. */
  async function run(args: ExecutionArgs, caller: Caller): Promise<ExecutionResult> {
    const share = shareOf(caller);
    const results = new ResultLimits(turns, share, held.of(share));
    // Reading and checking its text may have taken this iteration's time.
    await turns.next(share);
    try {
      return await results.of(execute({ ...args, contextValue: createContext(services, caller, randomUUID(), results) }));
    } catch (error) {
      return refused(error);
    }
  }

  return {
    // Reading and checking the text takes time too.
    onParams: ({ context }) => turns.next(shareOf(context.caller)),
    onExecute({ args, setExecuteFn }) {
      const { caller } = args.contextValue;
      const cost = costOfOperation(args, limits.cost);
      setExecuteFn((given: ExecutionArgs) => cost > limits.cost ? tooCostly(limits.cost) : run(given, caller));
    },
    onSubscribe({ args, setSubscribeFn }) {
      const { caller, response, endSlot } = args.contextValue;
      const cost = costOfOperation(args, limits.eventCost);
      setSubscribeFn(async (given: ExecutionArgs) => {
        if (cost > limits.eventCost) return inItsStream(tooCostly(limits.eventCost));
        const events = await createSourceEventStream({ ...given, contextValue: createContext(services, caller, randomUUID()) });
        if (!(Symbol.asyncIterator in events)) return inItsStream(events);
        endSlot();
        return new EventResults(events, {
          response, stalledMs,
          before: () => rate.wait(shareOf(caller), cost),
          run: (event) => run({ ...given, rootValue: event }, caller),
        });
      });
    },
  };
}

function costOfOperation({ schema, document, operationName, variableValues }: ExecutionArgs, most: number): number {
  const operation = getOperationAST(document, operationName);
  // Without one there is nothing to run: the executor says so.
  return operation ? costOf(schema, document, operation, variableValues ?? {}, most) : 0;
}

function tooCostly(most: number): ExecutionResult {
  return refused(new AditError('OPERATION_TOO_COSTLY', { most }));
}

function refused(error: unknown): ExecutionResult {
  if (!(error instanceof AditError)) throw error;
  // Yoga takes a result without data for a fault of the server.
  return { errors: [new GraphQLError(error.message, { originalError: error, extensions: error.extensions })], extensions: { http: { status: 200 } } };
}

/** A subscription that is refused says so in its stream, as one that ends later does: yoga's own status for it, 500, is one whose body nobody reads. */
function inItsStream(result: ExecutionResult): ExecutionResult {
  return { ...result, extensions: { ...result.extensions, http: { status: 200 } } };
}
