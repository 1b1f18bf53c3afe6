import type { ImportNote, ImportProblem } from '../../schema/import/report.ts';

/** What reading a folder has found, besides the records. */
export interface Findings {
  /** Why records can't be imported. */
  readonly problems: ImportProblem[];
  /** Records that are not imported, although nothing is wrong with them. */
  readonly leftOut: ImportNote[];
  /** What changes with records that are imported. */
  readonly notes: ImportNote[];
}

/** The findings of one record. */
export class RecordFindings {
  readonly source: string;
  readonly #findings: Findings;
  /** Whether the record has a problem. */
  broken = false;

  constructor(findings: Findings, source: string) {
    this.#findings = findings;
    this.source = source;
  }

  /** Something is wrong with a field: the record can't be imported. */
  problem(field: string, text: string): void {
    this.broken = true;
    this.#findings.problems.push({ source: this.source, field, text });
  }

  /** The record is not imported. */
  leaveOut(text: string): void {
    this.#findings.leftOut.push({ source: this.source, text });
  }

  /** Something of the record is not carried over, or changes. */
  note(text: string): void {
    this.#findings.notes.push({ source: this.source, text });
  }
}
