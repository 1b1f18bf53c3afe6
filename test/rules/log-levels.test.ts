import { describe, expect, test } from '@jest/globals';
import { formatLogLevels, logLevels, LogLevelsError, logModules, parseLogLevels } from '../../src/rules/log-levels.ts';

describe('log levels', () => {
  test.each(logLevels)('%s alone is the level of all modules', (level) => {
    expect(parseLogLevels(level)).toEqual({ level, modules: {} });
  });

  test('modules have levels of their own, and all others that without a module, or info', () => {
    expect(parseLogLevels('engine:debug, store : silent ,warn')).toEqual({ level: 'warn', modules: { engine: 'debug', store: 'silent' } });
    expect(parseLogLevels('warn,engine:debug')).toEqual({ level: 'warn', modules: { engine: 'debug' } });
    expect(parseLogLevels('visitors:debug')).toEqual({ level: 'info', modules: { visitors: 'debug' } });
  });

  test('are printed as they are read', () => {
    const text = `${logModules.map((module) => `${module}:trace`).join(',')},error`;
    expect(formatLogLevels(parseLogLevels(text))).toBe(text);
  });

  test.each([
    ['', '"" is not a level: there are trace, debug, info, warn, error, fatal, silent'],
    ['loud', '"loud" is not a level'],
    ['INFO', '"INFO" is not a level'],
    ['engine:loud', '"loud" is not a level'],
    ['engine', '"engine" is not a level'],
    ['engine:', '"" is not a level'],
    ['motor:debug', '"motor" is not a module: there are server, store, engine, bridge, visitors, schema, http, legacy, agent'],
    ['constructor:debug', '"constructor" is not a module'],
    ['engine:debug:info', '"engine:debug:info" has more than one colon'],
    ['engine:debug,engine:info', 'it gives the module engine two levels'],
    ['debug,info', 'it gives two levels without a module'],
    ['x'.repeat(1000), `"${'x'.repeat(40)}..." is not a level`],
  ])('%j is refused with what is wrong', (text, message) => {
    expect(() => parseLogLevels(text)).toThrow(LogLevelsError);
    expect(() => parseLogLevels(text)).toThrow(message);
  });
});
