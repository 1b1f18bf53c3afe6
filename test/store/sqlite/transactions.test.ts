import path from 'node:path';
import { expect, test } from '@jest/globals';
import { Connection } from '../../../src/store/sqlite/connection.ts';
import type { Reply } from '../../../src/store/sqlite/reply.ts';
import { Transactions } from '../../../src/store/sqlite/transactions.ts';
import { WriteQueue } from '../../../src/store/sqlite/write-queue.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const file = path.join(temporaryDirectory(), 'a.db');

test('a transaction that SQLite has rolled back fails until its end, also to commit, and then another one gets the connection', () => {
  const connection = new Connection(file);
  connection.execute('CREATE TABLE t (x UNIQUE)', []);
  const transactions = new Transactions(connection, new WriteQueue({ isBusy: () => false, guarded: (work) => work() }));
  const answers: string[] = [];
  const reply = (name: string): Reply => ({ resolve: () => answers.push(`${name} ok`), reject: () => answers.push(`${name} failed`) });
  const insert = (number: number, value: number): void =>
    transactions.run(number, reply(`${number}: ${value}`), () => connection.execute('INSERT OR ROLLBACK INTO t VALUES (?)', [value]));
  insert(1, 5);
  insert(1, 5);
  insert(1, 6);
  insert(2, 7);
  transactions.commit(1, reply('commit of 1'));
  transactions.commit(2, reply('commit of 2'));
  insert(3, 8);
  transactions.commit(3, reply('commit of 3'));
  expect(answers).toEqual(['1: 5 ok', '1: 5 failed', '1: 6 failed', '2: 7 ok', 'commit of 1 failed', 'commit of 2 ok', '3: 8 ok', 'commit of 3 ok']);
  expect(connection.rows('SELECT x FROM t', [])[2]).toBe('[[7],[8]]');
  connection.close();
});

test('a transaction that cannot begin fails with its reason, also to commit', () => {
  const [connection, other] = [new Connection(file, { busyMs: 0 }), new Connection(file)];
  const transactions = new Transactions(connection, new WriteQueue({ isBusy: () => false, guarded: (work) => work() }));
  const answers: unknown[] = [];
  const reply: Reply = { resolve: () => answers.push('ok'), reject: (error) => answers.push(String(error)) };
  other.execute('BEGIN IMMEDIATE', []);
  transactions.run(1, reply, () => connection.rows('SELECT 1', []));
  transactions.commit(1, reply);
  expect(answers).toEqual([expect.stringContaining('database is locked'), expect.stringContaining('database is locked')]);
  other.execute('ROLLBACK', []);
  transactions.run(2, reply, () => connection.rows('SELECT 1', []));
  transactions.commit(2, reply);
  expect(answers.slice(2)).toEqual(['ok', 'ok']);
  for (const each of [connection, other]) each.close();
});

test('a transaction that is rolled back while it waits for the connection never begins, and the next one gets it', () => {
  const connection = new Connection(file);
  connection.execute('CREATE TABLE w (x)', []);
  const transactions = new Transactions(connection, new WriteQueue({ isBusy: () => false, guarded: (work) => work() }));
  const answers: string[] = [];
  const reply = (name: string): Reply => ({ resolve: () => answers.push(`${name} ok`), reject: () => answers.push(`${name} failed`) });
  const insert = (number: number): void => transactions.run(number, reply(String(number)), () => connection.execute('INSERT INTO w VALUES (?)', [number]));
  for (const number of [1, 2, 3]) insert(number);
  transactions.rollback(2, reply('rollback of 2'));
  transactions.commit(1, reply('commit of 1'));
  transactions.rollback(3, reply('rollback of 3'));
  insert(4);
  transactions.commit(4, reply('commit of 4'));
  for (const end of ['commit', 'rollback'] as const) transactions[end](5, reply(`${end} of 5`));
  expect(answers).toEqual([
    ...['1 ok', 'rollback of 2 ok', 'commit of 1 ok', '3 ok', 'rollback of 3 ok', '4 ok', 'commit of 4 ok'],
    ...['commit of 5 ok', 'rollback of 5 ok'],
  ]);
  expect(connection.rows('SELECT x FROM w', [])[2]).toBe('[[1],[4]]');
  connection.close();
});
