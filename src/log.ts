import pino, { type Logger } from 'pino';
import * as z from 'zod';
import type { LogModule } from './rules/log-levels.ts';
import type { Settings } from './settings/settings.ts';

/** Properties that are removed from log entries, at any depth. */
const secretKeys = ['authKey', 'auth_key', 'authCryptKey', 'adminPassword', 'password', 'vkey', 'authorization', 'cookie', 'databaseUrl'];

const entrySchema = z.looseObject({
  time: z.string(),
  level: z.string(),
  msg: z.string().default(''),
  module: z.string().optional(),
  err: z.unknown().optional(),
  state: z.looseObject({}).optional(),
});

/** Creates the log of a module, with the module's name in its entries and the module's level. */
export type Logs = (module: LogModule) => Logger;

/**
 * The log of the program: one line per entry, on stderr (stdout is for the ready message).
 * @param states write changes of state (the field `state`) as lines of JSON to stdout instead
 */
export function createLogs({ logLevel, logFormat }: Pick<Settings, 'logLevel' | 'logFormat'>, states = false): Logs {
  const write = (entry: string): void => {
    const state = states ? stateLine(entry) : undefined;
    if (state !== undefined) process.stdout.write(state);
    else process.stderr.write(logFormat === 'json' ? entry : textLine(entry));
  };
  const root = pino(
    {
      level: logLevel.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '(secret)' },
    },
    logFormat === 'json' && !states ? process.stderr : { write },
  );
  return (module) => root.child({ module }, { level: logLevel.modules[module] ?? logLevel.level });
}

/**
 * Formats a JSON entry for people:
 * `{"level":"info","time":"2026-11-21T09:30:00.000Z","module":"bridge","port":8024,"msg":"listening"}` becomes
 * `2026-11-21T09:30:00.000Z INFO  bridge: listening port=8024`. External text can't start a new line or move the cursor.
 */
export function textLine(entry: string): string {
  const { time, level, msg, module, err, state: _, ...rest } = entrySchema.parse(JSON.parse(entry));
  const details = Object.entries(rest).map(([key, value]) => ` ${key}=${detail(value)}`);
  const text = module === undefined ? msg : `${module}: ${msg}`;
  return `${time} ${level.toUpperCase().padEnd(5)} ${printable(text)}${details.join('')}${stackOf(err)}\n`;
}

/** The JSON line of an entry that reports a change of state; undefined = another entry. */
function stateLine(entry: string): string | undefined {
  const { time, level: _, module: __, msg, err: ___, state, ...rest } = entrySchema.parse(JSON.parse(entry));
  return state && `${JSON.stringify({ time, ...rest, ...state, text: msg })}\n`;
}

function detail(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/@+-]+$/.test(value) ? value : printable(JSON.stringify(value));
}

/** Escapes control characters and line breaks. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** An error's stack, indented below its entry; if there is none, the error as a detail. */
function stackOf(err: unknown): string {
  if (err === undefined) return '';
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? err.stack : undefined;
  return typeof stack === 'string' ? `\n${stack.split('\n').map((line) => `    ${printable(line)}`).join('\n')}` : ` err=${detail(err)}`;
}
