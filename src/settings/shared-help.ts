import { logLevels, logModules } from '../rules/log-levels.ts';

/** The descriptions of the settings that agents and visitors share with the server. They load without the other settings, since an agent has none of those. */
export const sharedHelp = {
  logLevel: `${logLevels.join(', ')}; can be preceded by levels of single modules, as in engine:debug,info; modules: ${logModules.join(', ')}`,
  logFormat: 'text or json; one line per entry, on stderr',
  sockets:
    'socket backend: captured and onread are faster, but rely on undocumented behavior of Node; auto = the fastest backend that passes a self-test at start; net always works',
  halfClosedSeconds: 'how long a half-closed connection of a visitor stays open while no bytes move in the other direction',
} as const;
