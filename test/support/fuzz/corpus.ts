import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/** The inputs that failed before, in the repository: one file for each property, replayed by every run. */
export const corpus = path.resolve(import.meta.dirname, '../../fuzz/corpus');

/** Bytes in a corpus file. Latin-1, since that keeps the texts of protocols readable. */
export const bytes = z.object({ latin1: z.string() }).transform(({ latin1 }) => Buffer.from(latin1, 'latin1'));

/** The inputs of a property, oldest first. @param format of one input */
export function keptInputs<T>(property: string, format: z.ZodType<T>, directory = corpus): T[] {
  const file = fileOf(directory, property);
  return existsSync(file) ? fileFormat(format).parse(JSON.parse(readFileSync(file, 'utf8'))).map(({ input }) => input) : [];
}

/** Adds an input that has failed. @param problem what happened; replace it by what the bug was once that is known @returns the file */
export function keepInput(property: string, input: unknown, problem: string, directory = corpus): string {
  const file = fileOf(directory, property);
  const before = existsSync(file) ? fileFormat(z.unknown()).parse(JSON.parse(readFileSync(file, 'utf8'))) : [];
  mkdirSync(directory, { recursive: true });
  writeFileSync(file, `${JSON.stringify([...before, { problem, input }], withLatin1, 2)}\n`);
  return file;
}

function fileFormat<T>(input: z.ZodType<T>): z.ZodType<Array<{ problem: string; input: T }>> {
  return z.array(z.object({ problem: z.string(), input }));
}

/** The file of a property's inputs. */
export function fileOf(directory: string, property: string): string {
  return path.join(directory, `${property.replaceAll(/[^a-z0-9]+/gi, '-')}.json`);
}

/** JSON.stringify has asked the buffer for its own form first. */
function withLatin1(_key: string, value: unknown): unknown {
  const { data } = ownForm.safeParse(value);
  return data ? { latin1: Buffer.from(data.data).toString('latin1') } : value;
}

const ownForm = z.object({ type: z.literal('Buffer'), data: z.array(z.number()) });
