import path from 'node:path';
import { expect, test } from '@jest/globals';
import { Acme } from '../../../src/engine/acme/acme.ts';
import { writePrivately } from '../../../src/settings/private-file.ts';
import { eventually } from '../../support/eventually.ts';
import { freePortRange } from '../../support/free-port.ts';
import { LogRecorder } from '../../support/log-recorder.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const YEAR = 365 * 86_400_000;
const MINUTE = 60_000;
const kept = temporaryDirectory();

test('a clock that was a year ahead and is set right delays orders no longer than usual', async () => {
  let clock = Date.now() + YEAR;
  const directory = `https://127.0.0.1:${await freePortRange(1)}/directory`; // nobody listens
  const options = { directory, email: '', dir: path.join(kept, 'acme'), write: writePrivately, timing: { lookMs: 5, perHour: 1 } };
  const acme = new Acme(options, new LogRecorder().logger, () => clock);
  const state = () => acme.state('a.example');
  const failed = (times: number) => eventually(state, (now) => now?.failures === times && now.nextAt !== null);
  acme.want('a.example', 1);
  acme.start();
  await failed(1);
  expect(state()?.nextAt).toBeGreaterThan(clock + 4 * MINUTE);

  clock -= YEAR;
  await eventually(state, (now) => Number(now?.nextAt) < clock + 7 * MINUTE);
  expect(state()).toMatchObject({ status: 'failed', failures: 1 });
  clock += 61 * MINUTE; // the order of the wrong time counts for an hour, too
  await failed(2);
  for (let retry = 0; retry < 3; retry++) {
    clock += 61 * MINUTE;
    expect(await acme.retry('a.example')).toEqual({ kind: 'started' });
    await failed(3 + retry);
  }
  await acme.stop();
});
