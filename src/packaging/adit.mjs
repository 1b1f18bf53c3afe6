#!/usr/bin/env node
// The command `adit` of a released server. Plain JavaScript that any Node can read, because it refuses the ones that the program can't run on.
import process from 'node:process';

const [major, minor] = process.versions.node.split('.').map(Number);
const musl = process.platform === 'linux' && process.report !== undefined && process.report.getReport().header.glibcVersionRuntime === undefined;
const problem = major < 20 || (major === 20 && minor < 19)
  ? `Node 20.19 or newer is needed, ${process.execPath} is ${process.version}`
  : process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch) || musl
  ? `this package is for Linux with glibc on x64 and arm64, not for ${process.platform} on ${process.arch}${musl ? ' with musl' : ''}: use a checkout there`
  : '';
if (problem !== '') {
  process.stderr.write(`adit: ${problem}\n`);
  process.exit(1);
}
await import('../dist/main.js');
