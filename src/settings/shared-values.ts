import * as z from 'zod';
import { LogLevelsError, parseLogLevels } from '../rules/log-levels.ts';

/** A whole number from `min` to `max`, inclusive. */
export function integer(min: number, max: number, what = 'a whole number') {
  const error = `must be ${what} from ${min} to ${max}`;
  return z.union([z.string().regex(/^\d+$/).transform(Number), z.number()], { error }).pipe(z.int(error).min(min, error).max(max, error));
}

/** One of a few words or numbers. */
export function oneOf<const T extends readonly [string, ...string[]]>(words: T) {
  return z.enum(words, { error: `must be one of ${words.join(', ')}` });
}

/** Log levels by module (`engine:debug,info`), as src/rules/log-levels.ts reads them. */
const logLevels = z.string('must be a text').transform((list, context) => {
  try {
    return parseLogLevels(list);
  } catch (error) {
    if (!(error instanceof LogLevelsError)) throw error;
    context.addIssue({ code: 'custom', message: `must be log levels like info or engine:debug,info (${error.message})` });
    return z.NEVER;
  }
});

/** The settings that agents and visitors share with the server. They load without the others, which took a tenth of an agent's start. */
export const sharedValues = {
  logLevel: logLevels.prefault('info'),
  logFormat: oneOf(['text', 'json']).prefault('text'),
  sockets: oneOf(['auto', 'net', 'onread', 'captured']).prefault('auto'),
  halfClosedSeconds: integer(1, 86_400, 'seconds').prefault(300),
};
