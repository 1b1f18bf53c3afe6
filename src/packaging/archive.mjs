import { run } from '../prepare/run.mjs';

/**
 * Writes a directory as a .tgz whose bytes depend only on the names, contents and executable bits of its files.
 * @param {number} epoch the time of every file, in seconds
 */
export function writeArchive(parent, directory, file, epoch) {
  const flags = `--sort=name --format=gnu --mtime=@${epoch} --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX`;
  return run(`Writing ${file}`, `tar ${flags} -C ${parent} -cf - ${directory} | gzip -9n > ${file}`);
}
