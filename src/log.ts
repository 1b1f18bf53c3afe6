import pino, { type Logger } from 'pino';
import { z } from 'zod';
import type { Settings } from './settings/settings.ts';

/** Properties that never reach the log, wherever they stand in an entry. */
const secretKeys = ['authKey', 'auth_key', 'authCryptKey', 'adminPassword', 'password', 'vkey', 'authorization', 'cookie', 'databaseUrl'];

const entrySchema = z.looseObject({ time: z.string(), level: z.string(), msg: z.string().default(''), err: z.unknown().optional(), state: z.looseObject({}).optional() });

/**
 * The log of the program: one line for each entry, on stderr (stdout is for the ready message).
 * @param states changes of state (the field `state`) are lines of JSON on stdout instead
 */
export function createLogger({ logLevel, logFormat }: Pick<Settings, 'logLevel' | 'logFormat'>, states = false): Logger {
  const write = (entry: string): void => {
    const state = states ? stateLine(entry) : undefined;
    if (state !== undefined) process.stdout.write(state);
    else process.stderr.write(logFormat === 'json' ? entry : textLine(entry));
  };
  return pino(
    {
      level: logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '(secret)' },
    },
    logFormat === 'json' && !states ? process.stderr : { write },
  );
}

/**
 * `{"level":"info","time":"2026-11-21T09:30:00.000Z","port":8024,"msg":"listening"}` for people:
 * `2026-11-21T09:30:00.000Z INFO  listening port=8024`. What a stranger sent can't start a line of its own or move the cursor.
 * @param entry one entry in JSON
 */
export function textLine(entry: string): string {
  const { time, level, msg, err, state: _, ...rest } = entrySchema.parse(JSON.parse(entry));
  const details = Object.entries(rest).map(([key, value]) => ` ${key}=${detail(value)}`);
  return `${time} ${level.toUpperCase().padEnd(5)} ${printable(msg)}${details.join('')}${stackOf(err)}\n`;
}

/** An entry that tells of a change of state, for machines; undefined = it tells of something else. */
function stateLine(entry: string): string | undefined {
  const { time, level: _, msg, err: __, state, ...rest } = entrySchema.parse(JSON.parse(entry));
  return state && `${JSON.stringify({ time, ...rest, ...state, text: msg })}\n`;
}

function detail(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/@+-]+$/.test(value) ? value : printable(JSON.stringify(value));
}

/** Control characters and line ends are written as escapes. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** An error's stack, indented below its entry; without one, the error as a detail. */
function stackOf(err: unknown): string {
  if (err === undefined) return '';
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? err.stack : undefined;
  return typeof stack === 'string' ? `\n${stack.split('\n').map((line) => `    ${printable(line)}`).join('\n')}` : ` err=${detail(err)}`;
}
