import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { transform } from 'esbuild';
import { PrepareError, root, run } from '../prepare/run.mjs';
import { manifestOf } from './packages.mjs';
import { nodePackage } from './registry-package.mjs';
import { noticesOf } from './sbom.mjs';
import { writeServerTree } from './server-tree.mjs';

/** Who answers for the package. `.example` is reserved, so the default is nobody's address: to publish a package, set your own (docs/installing.md). */
const { ADIT_MAINTAINER: MAINTAINER = 'Adit contributors <contributors@adit.example>' } = process.env;
const own = path.join(root, 'src/packaging/debian');
/** The only files that are executable. */
const EXECUTABLE = ['usr/bin/adit', 'usr/lib/adit/node', 'DEBIAN/postinst', 'DEBIAN/prerm', 'DEBIAN/postrm'];
/** Libraries of other C libraries than Debian's. */
const MUSL = /musl\.node$/;

/** The name of the Debian package's file. */
export const debianPackage = () => `adit_${manifestOf('.').version}_amd64.deb`;

/**
 * Writes the server as a Debian package with a Node of its own.
 * @param {string} tree where the package's files are assembled
 * @param {string[]} imports what the bundle imports from packages
 * @param {string[]} bundled the packages in the bundle, as directories relative to the root
 * @param {number} epoch the time of all files, in seconds
 * @returns the directories of the packages that it installs
 */
export async function writeDebianPackage(tree, imports, bundled, output, epoch) {
  if (!/^[^<>,\p{Cc}]+ <[^<>@\s]+@[^<>@\s]+>$/u.test(MAINTAINER)) throw new PrepareError(`ADIT_MAINTAINER must be NAME <ADDRESS>, not ${MAINTAINER}`);
  rmSync(tree, { recursive: true, force: true });
  const place = (file, content) => {
    mkdirSync(path.dirname(path.join(tree, file)), { recursive: true });
    writeFileSync(path.join(tree, file), content);
  };
  const text = (name) => readFileSync(path.join(own, name), 'utf8');
  const { version } = manifestOf('.');
  const node = await nodePackage('x64');
  const license = readFileSync(path.join(root, 'LICENSE'), 'utf8');

  const installed = await writeServerTree(path.join(tree, 'usr/lib/adit'), imports, ['linux-x64']);
  // usr/bin/adit runs it with the package's own Node.
  const program = path.join(tree, 'usr/lib/adit/bin/adit.mjs');
  writeFileSync(program, readFileSync(program, 'utf8').replace(/^#!.*\n/, ''));
  cpSync(path.join(node, 'bin/node'), path.join(tree, 'usr/lib/adit/node'));
  place('usr/bin/adit', text('adit'));
  place('etc/adit/adit.toml', text('adit.toml'));
  place('lib/systemd/system/adit.service', await unit());

  const documents = 'usr/share/doc/adit';
  cpSync(path.join(root, 'docs'), path.join(tree, documents, 'docs'), { recursive: true });
  place(`${documents}/copyright`, `${text('copyright')}${license.slice(license.indexOf('Permission')).trim().replace(/^/gm, ' ').replace(/^ $/gm, ' .')}\n`);
  place(`${documents}/changelog.gz`, compressed(changelog(version, epoch)));
  place(`${documents}/NEWS.gz`, compressed(readFileSync(path.join(root, 'CHANGELOG.md'))));
  place(`${documents}/NODE-LICENSE.gz`, compressed(readFileSync(path.join(node, 'LICENSE'))));
  place(`${documents}/THIRD-PARTY-LICENSES.gz`, compressed(noticesOf([...bundled, ...installed])));
  place('usr/share/man/man1/adit.1.gz', compressed(text('adit.1').replace('@VERSION@', version).replace('@COMMANDS@', commands(tree))));
  place('usr/share/lintian/overrides/adit', text('lintian-overrides'));

  for (const file of filesOf(tree).filter((name) => MUSL.test(name))) rmSync(path.join(tree, file));
  const files = filesOf(tree);
  const kilobytes = files.reduce((sum, file) => sum + Math.ceil(statSync(path.join(tree, file)).size / 1024), 0);
  for (const name of ['postinst', 'prerm', 'postrm']) place(`DEBIAN/${name}`, text(name));
  place('DEBIAN/conffiles', '/etc/adit/adit.toml\n');
  place('DEBIAN/control', control(version, kilobytes));
  const sums = files.filter((file) => !file.startsWith('etc/')).map((file) => `${md5(path.join(tree, file))}  ${file}\n`);
  place('DEBIAN/md5sums', sums.join(''));
  settle(tree, '', epoch);
  // With one thread, since the number of threads changes the bytes.
  await run(`Writing ${path.basename(output)}`, `SOURCE_DATE_EPOCH=${epoch} dpkg-deb --root-owner-group --threads-max=1 -z3 --build ${tree} ${output}`, {
    hint: 'The program dpkg-deb must be installed, on Debian by the package dpkg.',
  });
  return installed;
}

/** The unit that `adit service install` writes, for the files of the package. */
async function unit() {
  const { code } = await transform(readFileSync(path.join(root, 'src/service/units.ts'), 'utf8'), { loader: 'ts', format: 'esm' });
  const { systemdUnit } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const command = ['/usr/lib/adit/node', '/usr/lib/adit/bin/adit.mjs'];
  return systemdUnit({ kind: 'server', command, args: ['--config', '/etc/adit/adit.toml'], keyFile: '' });
}

/** The commands of the program and what they do, for the manual page. */
function commands(tree) {
  const help = execFileSync(process.execPath, [path.join(tree, 'usr/lib/adit/dist/main.js'), '--help'], { encoding: 'utf8' });
  const [, list = ''] = help.split('Commands:\n');
  const found = list.replaceAll(/\n {4,}/g, ' ').matchAll(/^ {2}(\w+)(?: \[\w+\])? +(.*)$/gm);
  return Array.from(found, ([, name, what]) => `.TP\n.B ${name}\n${what.replaceAll('-', '\\-')}`).join('\n');
}

function control(version, kilobytes) {
  return `Package: adit
Version: ${version}
Architecture: amd64
Maintainer: ${MAINTAINER}
Installed-Size: ${kilobytes}
Depends: adduser, libatomic1, libc6 (>= 2.29), libgcc-s1, libstdc++6 (>= 8)
Section: net
Priority: optional
Description: self-hosted reverse-tunnel server
 Agents inside of private networks connect out to the server, which publishes
 their services on its ports and domains. It has a web interface, a typed
 GraphQL API, and the management API of NPS.
 .
 The package has its own Node.js.
`;
}

function changelog(version, epoch) {
  const time = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000');
  return `adit (${version}) unstable; urgency=medium\n\n  * NEWS.gz has the changes.\n\n -- ${MAINTAINER}  ${time}\n`;
}

const compressed = (content) => gzipSync(content, { level: 9 });
const md5 = (file) => createHash('md5').update(readFileSync(file)).digest('hex');

/** The files below a directory, relative to it, in the same order on every machine. */
function filesOf(tree) {
  const names = readdirSync(tree, { recursive: true, encoding: 'utf8' }).filter((file) => lstatSync(path.join(tree, file)).isFile());
  return names.toSorted((one, two) => (one < two ? -1 : 1));
}

/** Gives files and directories modes and times that depend neither on the umask nor on packages. */
function settle(tree, inside, epoch) {
  const file = path.join(tree, inside);
  const directory = lstatSync(file).isDirectory();
  if (directory) { for (const name of readdirSync(file)) settle(tree, path.join(inside, name), epoch); }
  chmodSync(file, directory || EXECUTABLE.includes(inside) ? 0o755 : 0o644);
  utimesSync(file, epoch, epoch);
}
