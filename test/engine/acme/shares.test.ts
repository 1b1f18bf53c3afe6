import path from 'node:path';
import { expect, test } from '@jest/globals';
import { Acme } from '../../../src/engine/acme/acme.ts';
import { writePrivately } from '../../../src/settings/private-file.ts';
import { eventually } from '../../support/eventually.ts';
import { freePortRange } from '../../support/free-port.ts';
import { LogRecorder } from '../../support/log-recorder.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const kept = temporaryDirectory();

test('new names of one client leave orders of the hour to the others', async () => {
  let clock = Date.now();
  const directory = `https://127.0.0.1:${await freePortRange(1)}/directory`; // nobody listens
  const options = { directory, email: '', dir: path.join(kept, 'acme'), write: writePrivately, timing: { lookMs: 5, perHour: 6 } };
  const acme = new Acme(options, new LogRecorder().logger, () => clock);
  const names = Array.from({ length: 20 }, (_, index) => `${index}.example`);
  const attempted = () => names.filter((name) => (acme.state(name)?.failures ?? 0) > 0 && acme.state(name)?.status === 'failed').length;
  for (const name of names) acme.want(name, 1);
  acme.start();
  await eventually(attempted, (count) => count === 4);

  acme.want('other.example', 2);
  await eventually(() => acme.state('other.example')?.status, (status) => status === 'failed');
  expect(attempted()).toBe(4);

  clock += 3_600_001;
  await eventually(attempted, (count) => count > 4);
  await acme.stop();
});
