import { expect, test } from '@jest/globals';
import process from 'node:process';
import { cpuSeconds } from '../../bench/usage.ts';
import { Child } from '../support/child.ts';

/** Burns half a second of CPU in a thread that then ends, or in a child process that does, and stays. */
const burner = `
const { Worker } = require('node:worker_threads');
const { spawnSync } = require('node:child_process');
const burn = 'const used = () => process.cpuUsage().user + process.cpuUsage().system; while (used() < 500_000 + BASE);';
process.stdin.once('data', (how) => {
  if (String(how) === 'thread') {
    const { user, system } = process.cpuUsage();
    new Worker(burn.replace('BASE', user + system), { eval: true }).on('exit', () => console.log('done'));
  } else {
    spawnSync(process.execPath, ['-e', burn.replace('BASE', 0)]);
    console.log('done');
  }
});
console.log('ready');
setInterval(() => {}, 1000);
`;

test.each(['thread', 'process'])('CPU that a %s used which has ended since is counted', async (how) => {
  const child = new Child(process.execPath, ['-e', burner]);
  await child.says(/ready/);
  const before = cpuSeconds([child.pid]);
  child.type(how);
  await child.says(/done/);
  const used = cpuSeconds([child.pid]) - before;
  await child.end();
  expect(used).toBeGreaterThan(0.45);
  expect(used).toBeLessThan(1.5);
});
