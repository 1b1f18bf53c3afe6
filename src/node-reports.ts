import type { Logger } from 'pino';
import { performance } from 'node:perf_hooks';
import { awakeNow } from './rules/awake-clock.ts';
import { failureNote } from './store/database-failure.ts';
import { type NodeFigures, NodeOutdatedError, NodeReplacedError, type Nodes } from './store/nodes.ts';

/** How often a node reports, in ms: three times before it counts as dead. */
const REPORT_MS = 3000;

/** What the reports need. */
export interface NodeReportsParts {
  readonly node: Pick<Nodes, 'report' | 'leave' | 'own'>;
  readonly figures: () => Omit<NodeFigures, 'load'>;
  /** Called after each report that has reached the database. @param began when the report began, by {@link awakeNow} */
  readonly onReported: (began: number) => Promise<void>;
  /** Called after each report: whether this node is to drain. */
  readonly onDraining: (on: boolean) => void;
  readonly log: Logger;
  /** This server must not go on: another one has taken its name, or has migrated the database for a later version. */
  readonly onReplaced: (error: Error) => void;
}

/** The reports of this node. */
export interface NodeReports {
  /** Reports now, since what is stored of this node has changed. */
  now(): void;
  /** Ends the reports and says that the node has ended. */
  stop(): Promise<void>;
}

/** Reports the state of this node regularly, and learns whether it is to drain. Failures are logged when they begin and end, not each time. */
export function reportNode({ node, figures, onReported, onDraining, log, onReplaced }: NodeReportsParts): NodeReports {
  let before = performance.eventLoopUtilization();
  let failing = false;
  let reporting: Promise<void> | undefined;
  let again = false;
  const report = async (): Promise<void> => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    const began = awakeNow();
    try {
      await node.report({ ...figures(), load: Math.round(utilization * 1000) / 1000 });
      onDraining(node.own?.draining ?? false);
      await onReported(began);
      if (failing) log.info('the state of this node is reported again');
      failing = false;
    } catch (error) {
      if (error instanceof NodeReplacedError || error instanceof NodeOutdatedError) return onReplaced(error);
      if (!failing) log.warn(failureNote(error), 'the state of this node could not be reported');
      failing = true;
    }
  };
  const start = (): void => {
    if (reporting) return;
    again = false;
    reporting = report().finally(() => {
      reporting = undefined;
      if (again) start();
    });
  };
  const timer = setInterval(start, REPORT_MS);
  return {
    now() {
      // The report that is under way may have read the row before.
      if (reporting) again = true;
      else start();
    },
    async stop() {
      clearInterval(timer);
      again = false;
      await reporting;
      await node.leave().catch((error: unknown) => log.warn(failureNote(error), 'the end of this node could not be reported'));
    },
  };
}
