import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { expect, test } from '@jest/globals';
import { expectDrained } from '../support/stopping.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();

test('SIGTERM lets an open connection finish, refuses new ones, and ends with exit code 0; systemd is notified of the starts of both programs, and of the stop', async () => {
  const calls = path.join(directory, 'calls');
  const program = path.join(directory, 'systemd-notify');
  writeFileSync(program, `#!/bin/sh\necho "$*" >>${calls}\n`);
  chmodSync(program, 0o755);
  const environment = {
    NOTIFY_SOCKET: '/run/notify',
    PATH: `${directory}:${process.env['PATH']}`,
    ADIT_LOG_LEVEL: 'visitors:debug,info',
    ADIT_LEAVE_SECONDS: '0',
  };
  expect(await expectDrained({ environment })).toMatch(/ DEBUG visitors: /);
  expect(readFileSync(calls, 'utf8')).toMatch(/^(--ready MAINPID=\d+\n){2}STOPPING=1\n$/);
});
