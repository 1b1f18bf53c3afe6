import type { z } from 'zod';

/** Parses the value of a flag. @returns undefined = it is not valid, and `problems` says why */
export type FlagCheck = <T>(flag: string, schema: z.ZodType<T>, value: unknown) => T | undefined;

/** A check of flags that collects everything that is wrong with them. @param problems where it puts a line for each invalid flag */
export function flagCheck(problems: string[]): FlagCheck {
  return (flag, schema, value) => {
    const checked = schema.safeParse(value);
    if (checked.success) return checked.data;
    problems.push(`${flag}: ${checked.error.issues[0]?.message}`);
    return undefined;
  };
}
