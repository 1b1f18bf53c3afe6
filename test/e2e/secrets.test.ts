import { afterAll, afterEach, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import {
  callAll,
  createToken,
  expectHashed,
  expectTight,
  finish,
  listen,
  plant,
  provokeFaults,
  refuseInSqlite,
  startAgents,
} from '../support/planted-drive.ts';
import { PlantedRun } from '../support/planted-run.ts';
import { removeScratchDirectories } from '../support/scratch.ts';

afterEach(endChildren);
afterAll(removeScratchDirectories);

test('no secret is in an answer, an event, the audit log, an error or the log, whatever an administrator calls, nor in the database if it need not be read again', async () => {
  const run = new PlantedRun();
  await run.start();
  await plant(run);
  const agents = await startAgents(run);
  const endListening = await listen(run);
  run.token('administrator', await createToken(run));
  await callAll(run, run.admin);
  await provokeFaults(run, () => refuseInSqlite(run));
  await finish(run, endListening);
  expectTight(run, [run.server.child, ...agents]);
  expectHashed(run);
});
