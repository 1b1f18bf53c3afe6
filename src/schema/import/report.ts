import * as z from 'zod';

const problem = z.object({ source: z.string(), field: z.string(), text: z.string() }).readonly();
/** Why a record can't be imported. `source`: the record, by file and id. `field`: "" = the whole record. */
export type ImportProblem = z.output<typeof problem>;

const note = z.object({ source: z.string(), text: z.string() }).readonly();
/** What happens to a record. */
export type ImportNote = z.output<typeof note>;

/** The resources of an import, in the order of the report. */
export const importResources = ['user', 'client', 'tunnel', 'host', 'platformDomain', 'globalSettings'] as const;
/** A resource of an import. */
export type ImportResource = (typeof importResources)[number];

const counts = z.object({
  /** Not imported yet. */
  added: z.int(),
  /** Imported before, and changed in the source since. */
  changed: z.int(),
  /** Imported before, and unchanged, except perhaps their counters. */
  unchanged: z.int(),
});
/** How many records of a resource an import concerns. */
export type ImportCounts = z.output<typeof counts>;

/** What an import would do, or has done. */
export const importReport = z.object({
  counts: z.record(z.enum(importResources), counts),
  /** Records of which only the counters have changed. */
  counted: z.int(),
  /** With any, nothing is written, unless such records may be skipped. */
  problems: z.array(problem).readonly(),
  /** Records that are not imported. */
  leftOut: z.array(note).readonly(),
  /** What changes with records that are imported. */
  notes: z.array(note).readonly(),
  /** Why the import as a whole is refused; "" = it is not. */
  refusal: z.string(),
  /** done: it was written. planned: it would be. nothing: there is nothing to do. refused: see `problems` and `refusal`. */
  outcome: z.enum(['done', 'planned', 'nothing', 'refused']),
}).readonly();
/** @see importReport */
export type ImportReport = z.output<typeof importReport>;
