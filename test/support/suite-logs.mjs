import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** Where the logs of the processes that a suite starts are kept until it has passed. @param {string} suite its file */
export function logsOf(suite) {
  return path.join(root, '.cache', 'logs', path.relative(root, suite).replace(/\.ts$/, ''));
}
