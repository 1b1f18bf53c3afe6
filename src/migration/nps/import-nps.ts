import v8 from 'node:v8';
import type { ImportOptions } from '../../schema/import/run.ts';
import type { Settings } from '../../settings/settings.ts';
import { createLogs } from '../../log.ts';
import { runImport } from '../run-import.ts';
import { readNpsFolder } from './folder.ts';
import { reportText, withNpsNames } from './report-text.ts';

/** Imports a data folder of NPS. @returns the report, and whether everything that was asked for was done @throws {StoreError} {ThroughServerError} */
export async function importNps(
  directory: string,
  settings: Settings,
  options: ImportOptions,
  json: boolean,
): Promise<{ readonly text: string; readonly ok: boolean }> {
  // V8 would let garbage double the heap: 400 MB instead of 310 for 65,000 records, for a tenth less of CPU time.
  v8.setFlagsFromString('--heap-growing-percent=30');
  const { set, problems, leftOut, notes, remarks } = readNpsFolder(directory);
  const log = createLogs({ ...settings, logLevel: { level: 'warn', modules: {} } })('store');
  const report = withNpsNames(await runImport(set, { problems, leftOut, notes }, options, settings, log));
  return { text: json ? `${JSON.stringify({ ...report, remarks }, null, 2)}\n` : reportText(report, remarks), ok: report.outcome !== 'refused' };
}
