import type { Response } from 'express';
import { createSourceEventStream, execute, type ExecutionArgs, type ExecutionResult, getOperationAST, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { shareOf, type Caller } from '../rules/caller.ts';
import { createContext } from '../schema/context.ts';
import { AditError } from '../schema/errors.ts';
import { HeldRecords } from '../schema/limits/held-records.ts';
import { ResultLimits } from '../schema/limits/result-limits.ts';
import type { Services } from '../schema/services.ts';
import { EventRate, EventResults } from './event-results.ts';
import { costOf } from './graphql-cost.ts';
import { limits } from './graphql-limits.ts';

/** The HTTP side of an operation. */
export interface Origin {
  readonly caller: Caller;
  /** The response that receives the result. */
  readonly response: Response;
  /** Releases the caller's operation slot. Called when the response ends; a subscription, which has its own limits, calls it earlier. */
  readonly endSlot: () => void;
}

/**
 * Runs operations within their limits: refuses operations that could return too much, computes results in parts and within
 * the limits, and provides the context for resolvers.
 * @param stalledMs time after which a subscriber that reads nothing is disconnected
 */
export function runOperations(services: Services, stalledMs: number): Plugin<Origin, Origin> {
  const { timeSlices } = services;
  const rate = new EventRate();
  const held = new HeldRecords();

  /** Runs an operation, or computes the result of one event. */
  async function run(args: ExecutionArgs, caller: Caller): Promise<ExecutionResult> {
    const share = shareOf(caller);
    const results = new ResultLimits(timeSlices, share, held.of(share));
    // Parsing and validation may have used up the time slice.
    await timeSlices.next(share);
    try {
      return await results.of(execute({ ...args, contextValue: createContext(services, caller, results) }));
    } catch (error) {
      return refused(error);
    }
  }

  return {
    // Parsing and validation take time, too.
    onParams: ({ context }) => timeSlices.next(shareOf(context.caller)),
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
        const events = await createSourceEventStream({ ...given, contextValue: createContext(services, caller) });
        if (!(Symbol.asyncIterator in events)) return inItsStream(events);
        endSlot();
        return new EventResults(events, {
          response,
          stalledMs,
          before: () => rate.wait(shareOf(caller), cost),
          run: (event) => run({ ...given, rootValue: event }, caller),
        });
      });
    },
  };
}

function costOfOperation({ schema, document, operationName, variableValues }: ExecutionArgs, most: number): number {
  const operation = getOperationAST(document, operationName);
  // Without an operation there is nothing to run; the executor reports it.
  return operation ? costOf(schema, document, operation, variableValues ?? {}, most) : 0;
}

function tooCostly(most: number): ExecutionResult {
  return refused(new AditError('OPERATION_TOO_COSTLY', { most }));
}

function refused(error: unknown): ExecutionResult {
  if (!(error instanceof AditError)) throw error;
  // Yoga treats a result without data as an error of the server.
  return { errors: [new GraphQLError(error.message, { originalError: error, extensions: error.extensions })], extensions: { http: { status: 200 } } };
}

/** Reports a refused subscription as an event in its stream: yoga would respond with status 500, whose body clients don't read. */
function inItsStream(result: ExecutionResult): ExecutionResult {
  return { ...result, extensions: { ...result.extensions, http: { status: 200 } } };
}
