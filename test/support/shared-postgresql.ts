import process from 'node:process';
import { findProgram } from './find-program.ts';
import { startOwnPostgresql } from './postgresql.ts';

/**
 * The PostgreSQL server of a whole test run, as a program of its own: says in one line in which directory it is (empty where PostgreSQL
 * is not installed), and ends when its standard input ends, however the run came to an end.
 */
const server = findProgram('initdb') === undefined ? undefined : await startOwnPostgresql();
process.stdout.write(`${server?.directory ?? ''}\n`);
process.on('SIGINT', () => undefined); // Ctrl-C goes to the run, and the end of the input follows
process.stdin.resume().on('end', () => void server?.stop().then(() => process.exit()));
