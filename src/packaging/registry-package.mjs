import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { PrepareError, root, run } from '../prepare/run.mjs';

const cache = path.join(root, '.cache/packages');

/** The Node that executables and the Debian package contain: the newest release with long-term support. */
export const NODE = {
  version: '26.10.0',
  integrity: {
    x64: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
    arm64: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
  },
};

/** The directory of Node for Linux on `x64` or `arm64`, with `bin/node` and LICENSE. @throws {PrepareError} */
export const nodePackage = (arch) => registryPackage(`node-linux-${arch}`, NODE.version, NODE.integrity[arch]);

/** The directory of a package from the npm registry, which is downloaded once and must have the given checksum. @throws {PrepareError} */
export async function registryPackage(name, version, integrity) {
  const directory = path.join(cache, `${name.replace('/', '+')}-${version}`);
  if (existsSync(directory)) return path.join(directory, 'package');
  const fresh = `${directory}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  try {
    await run(`Downloading ${name}`, `npm pack --silent --pack-destination ${fresh} ${name}@${version}`, { hint: 'The npm registry must be reachable.' });
    const archive = path.join(fresh, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
    const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (found !== integrity) throw new PrepareError(`${name}@${version} has the checksum ${found} instead of ${integrity}`);
    await run(`Unpacking ${name}`, `tar -xzf ${archive} -C ${fresh}`);
    rmSync(archive);
    renameSync(fresh, directory);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return path.join(directory, 'package');
}
