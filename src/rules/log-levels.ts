/** The log levels, most verbose first. `silent` writes nothing. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** A log level. */
type LogLevel = typeof logLevels[number];

/**
 * The modules with a log level of their own: `bridge` handles agents that connect, `visitors` follows the connections of visitors
 * (at level debug), `agent` is `adit agent` and `adit visit`.
 */
export const logModules = ['server', 'store', 'engine', 'bridge', 'visitors', 'schema', 'http', 'legacy', 'agent'] as const;

/** A module. */
export type LogModule = typeof logModules[number];

/** The parsed value of `ADIT_LOG_LEVEL`. */
export interface LogLevels {
  /** The level of all modules without a level of their own. */
  readonly level: LogLevel;
  readonly modules: Readonly<Partial<Record<LogModule, LogLevel>>>;
}

/** An invalid value; the message completes the sentence "... must be ...". */
export class LogLevelsError extends Error {
  override readonly name = 'LogLevelsError';
}

/**
 * Parses `debug`, `engine:debug` or `engine:debug,store:warn,info`: levels of modules, and one for all others (default: info).
 * @throws {LogLevelsError}
 */
export function parseLogLevels(text: string): LogLevels {
  const modules: Partial<Record<LogModule, LogLevel>> = {};
  let level: LogLevel | undefined;
  for (const part of text.split(',')) {
    const [first = '', second, ...more] = part.split(':').map((word) => word.trim());
    if (more.length > 0) throw new LogLevelsError(`${quoted(part)} has more than one colon`);
    if (second === undefined) {
      if (level !== undefined) throw new LogLevelsError('it gives two levels without a module');
      level = levelOf(first);
    } else {
      const module = logModules.find((each) => each === first);
      if (module === undefined) throw new LogLevelsError(`${quoted(first)} is not a module: there are ${logModules.join(', ')}`);
      if (modules[module] !== undefined) throw new LogLevelsError(`it gives the module ${module} two levels`);
      modules[module] = levelOf(second);
    }
  }
  return { level: level ?? 'info', modules };
}

/** The inverse of `parseLogLevels`. */
export function formatLogLevels({ level, modules }: LogLevels): string {
  return [...logModules.flatMap((module) => modules[module] === undefined ? [] : [`${module}:${modules[module]}`]), level].join(',');
}

function levelOf(word: string): LogLevel {
  const level = logLevels.find((each) => each === word);
  if (level === undefined) throw new LogLevelsError(`${quoted(word)} is not a level: there are ${logLevels.join(', ')}`);
  return level;
}

/** Quotes the given text, cut to a maximum length. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text);
}
