import { spawnSync } from 'node:child_process';
import { describe } from '@jest/globals';
import { describeWith } from './programs.ts';

/** A suite that needs the rig of nat-rig.ts: its programs, and the right to make network namespaces. */
export function describeInRig(name: string, suite: () => void): void {
  if (spawnSync('unshare', ['--net', 'true']).status === 0) describeWith(['ip', 'nft', 'conntrack', 'curl'], name, suite);
  // oxlint-disable-next-line jest/no-disabled-tests -- its name says why
  else describe.skip(`${name} (skipped: no network namespaces can be made here)`, suite);
}
