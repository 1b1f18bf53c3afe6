import type { z } from 'zod';

/** Parses the value of a flag. @returns undefined = invalid; the reason is added to `problems` */
export type FlagCheck = <T>(flag: string, schema: z.ZodType<T>, value: unknown) => T | undefined;

/** Creates a check of flags that collects all problems. @param problems receives a line for each invalid flag */
export function flagCheck(problems: string[]): FlagCheck {
  return (flag, schema, value) => {
    const checked = schema.safeParse(value);
    if (checked.success) return checked.data;
    problems.push(`${flag}: ${checked.error.issues[0]?.message}`);
    return undefined;
  };
}
