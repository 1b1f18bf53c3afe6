/** How much of a log is written, the most first. `silent` writes nothing. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** One of them. */
export type LogLevel = typeof logLevels[number];

/**
 * The parts of the program that have a log level of their own: `bridge` is where agents connect, `visitors` follows the connections of visitors
 * (at level debug), `agent` is `adit agent` and `adit visit`.
 */
export const logModules = ['server', 'store', 'engine', 'bridge', 'visitors', 'schema', 'http', 'legacy', 'agent'] as const;

/** One of them. */
export type LogModule = typeof logModules[number];

/** What `ADIT_LOG_LEVEL` says. */
export interface LogLevels {
  /** Of every module that has none of its own. */
  readonly level: LogLevel;
  readonly modules: Readonly<Partial<Record<LogModule, LogLevel>>>;
}

/** A text that gives no log levels; the message completes the sentence "... must be ...". */
export class LogLevelsError extends Error {
  override readonly name = 'LogLevelsError';
}

/**
 * Reads `debug`, `engine:debug` or `engine:debug,store:warn,info`: a level for modules, and one for all others (info unless it is given).
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

/** As `parseLogLevels` reads them. */
export function formatLogLevels({ level, modules }: LogLevels): string {
  return [...logModules.flatMap((module) => modules[module] === undefined ? [] : [`${module}:${modules[module]}`]), level].join(',');
}

function levelOf(word: string): LogLevel {
  const level = logLevels.find((each) => each === word);
  if (level === undefined) throw new LogLevelsError(`${quoted(word)} is not a level: there are ${logLevels.join(', ')}`);
  return level;
}

/** What somebody gave, cut: it may be long. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text);
}
