import type { Logger } from 'pino';
import { performance } from 'node:perf_hooks';
import { failureNote } from './store/database-failure.ts';
import { type NodeFigures, NodeReplacedError, type Nodes } from './store/nodes.ts';

/** How often a node reports, in ms: three times before it counts as dead. */
const REPORT_MS = 3000;

/** What the reports need. */
export interface NodeReportsParts {
  readonly node: Pick<Nodes, 'report' | 'leave'>;
  readonly figures: () => Omit<NodeFigures, 'load'>;
  /** Called after each report that has reached the database. */
  readonly onReported: () => Promise<void>;
  readonly log: Logger;
  /** Another server has taken the name. */
  readonly onReplaced: (error: Error) => void;
}

/**
 * Reports the state of this node regularly. Failures are logged when they begin and end, not each time.
 * @returns ends the reports and says that the node has ended
 */
export function reportNode({ node, figures, onReported, log, onReplaced }: NodeReportsParts): () => Promise<void> {
  let before = performance.eventLoopUtilization();
  let failing = false;
  let reporting: Promise<void> | undefined;
  const report = async (): Promise<void> => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    try {
      await node.report({ ...figures(), load: Math.round(utilization * 1000) / 1000 });
      await onReported();
      if (failing) log.info('the state of this node is reported again');
      failing = false;
    } catch (error) {
      if (error instanceof NodeReplacedError) return onReplaced(error);
      if (!failing) log.warn(failureNote(error), 'the state of this node could not be reported');
      failing = true;
    }
  };
  const timer = setInterval(() => {
    reporting ??= report().finally(() => {
      reporting = undefined;
    });
  }, REPORT_MS);
  return async () => {
    clearInterval(timer);
    await reporting;
    await node.leave().catch((error: unknown) => log.warn(failureNote(error), 'the end of this node could not be reported'));
  };
}
