// `npm run release`, in a prepared checkout: writes the files of a release into `release/`. Two runs of the same commit write the same bytes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { build } from 'esbuild';
import { bundlingAgent } from '../prepare/agent-file.mjs';
import { PrepareError, root, say } from '../prepare/run.mjs';
import { bundling } from '../prepare/steps.mjs';
import { writeArchive } from './archive.mjs';
import { debianPackage, writeDebianPackage } from './debian-package.mjs';
import { writeExecutable } from './executable.mjs';
import { bundledPackages, importsOf, sorted } from './packages.mjs';
import { bomOf, noticesOf } from './sbom.mjs';
import { PLATFORMS, writeDocuments, writeServerTree } from './server-tree.mjs';

const output = path.join(root, 'release');
const work = path.join(root, '.cache/release');

/** The time of all files, in seconds: that of the commit. */
function epochOf() {
  const { SOURCE_DATE_EPOCH: given } = process.env;
  if (given !== undefined) return Number(given);
  try {
    return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }));
  } catch {
    throw new PrepareError('this is not a git checkout: set SOURCE_DATE_EPOCH to the time of the release, in seconds');
  }
}

async function release() {
  const epoch = epochOf();
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });

  const metafileOf = async (options) => (await build({ ...options, metafile: true, write: false })).metafile;
  const [program, agent] = [await metafileOf(bundling(path.join(work, 'dist'))), await metafileOf(bundlingAgent(path.join(work, 'agent.mjs'), 'esm'))];
  const agentPackages = bundledPackages(agent);

  say('adit-agent.mjs ...');
  copyFileSync(path.join(root, 'dist/agent/adit-agent.mjs'), path.join(output, 'adit-agent.mjs'));
  chmodSync(path.join(output, 'adit-agent.mjs'), 0o755);
  const executables = ['x64', 'arm64'].map((arch) => [arch, `adit-agent-linux-${arch}`]);
  for (const [arch, name] of executables) {
    say(`${name} ...`);
    await writeExecutable(arch, path.join(output, name));
  }

  say('adit-server.tgz ...');
  const imports = importsOf(program);
  const bundled = [...new Set([...bundledPackages(program), ...agentPackages])];
  const installed = await writeServerTree(path.join(work, 'adit'), imports, PLATFORMS);
  writeDocuments(path.join(work, 'adit'));
  cpSync(path.join(root, 'src/packaging/container'), path.join(work, 'adit/container'), { recursive: true });
  writeFileSync(path.join(work, 'adit/THIRD-PARTY-LICENSES.txt'), noticesOf([...bundled, ...installed]));
  await writeArchive(work, 'adit', path.join(output, 'adit-server.tgz'), epoch);

  const debian = debianPackage();
  say(`${debian} ...`);
  const inPackage = await writeDebianPackage(path.join(work, 'debian'), imports, bundled, path.join(output, debian), epoch);

  const shipped = new Map();
  const ship = (directories, ...files) => {
    for (const directory of directories) shipped.set(directory, new Set([...shipped.get(directory) ?? [], ...files]));
  };
  const names = executables.map(([, name]) => name);
  ship(agentPackages, 'adit-agent.mjs', ...names);
  ship([...bundled, ...installed], 'adit-server.tgz');
  ship([...bundled, ...inPackage], debian);
  writeFileSync(path.join(output, 'sbom.json'), `${JSON.stringify(bomOf(shipped, [debian, ...names], epoch), undefined, 2)}\n`);
  writeFileSync(path.join(output, 'THIRD-PARTY-LICENSES.txt'), noticesOf(shipped.keys()));

  const sums = sorted(readdirSync(output)).map((name) => `${createHash('sha256').update(readFileSync(path.join(output, name))).digest('hex')}  ${name}\n`);
  writeFileSync(path.join(output, 'SHA256SUMS'), sums.join(''));
  say('the release is in release/');
}

try {
  await release();
} catch (error) {
  if (!(error instanceof PrepareError)) throw error;
  for (const line of error.message.split('\n')) say(line);
  process.exitCode = 1;
}
