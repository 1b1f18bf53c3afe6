import { Buffer } from 'node:buffer';
import { licenseText, lockedAs, manifestOf, sorted } from './packages.mjs';
import { NODE } from './registry-package.mjs';

/**
 * The list of everything that a release contains, in the format CycloneDX 1.6, with the files of the release that contain it.
 * @param {ReadonlyMap<string, ReadonlySet<string>>} shipped the files of the release, by the package's directory relative to the root
 * @param {readonly string[]} withNode the files that contain Node
 * @param {number} epoch the time of the release, in seconds
 */
export function bomOf(shipped, withNode, epoch) {
  const { name, version, license } = manifestOf('.');
  const components = [...shipped].toSorted(([one], [two]) => (one < two ? -1 : 1)).map(([directory, files]) => componentOf(directory, files));
  const node = {
    type: 'application',
    'bom-ref': `pkg:generic/node@${NODE.version}`,
    name: 'node',
    version: NODE.version,
    licenses: [{ license: { id: 'MIT' } }],
    purl: `pkg:generic/node@${NODE.version}`,
    properties: withNode.map(shippedIn),
  };
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: { type: 'application', 'bom-ref': `${name}@${version}`, name, version, licenses: [{ license: { id: license } }] },
    },
    components: [...components, node],
  };
}

function componentOf(directory, files) {
  const { version, integrity, license } = lockedAs(directory);
  const name = directory.replace(/^.*node_modules\//, '');
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type: 'library',
    // The same version may be installed in several places.
    'bom-ref': directory,
    name,
    version,
    hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') }],
    licenses: license === undefined ? [] : [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }],
    purl,
    properties: sorted(files).map(shippedIn),
  };
}

const shippedIn = (file) => ({ name: 'adit:shippedIn', value: file });

/** The license texts of packages, one after the other. @param {Iterable<string>} directories relative to the root */
export function noticesOf(directories) {
  return sorted(new Set(directories)).map((directory) => {
    const { license = 'see its web site' } = lockedAs(directory);
    const line = '='.repeat(80);
    return `${line}\n${directory.replace(/^.*node_modules\//, '')} ${lockedAs(directory).version}\n${line}\n\n${
      licenseText(directory) ?? `License: ${license}`
    }\n`;
  }).join('\n');
}
