import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { CertificateFiles } from '../../src/http/certificate-files.ts';
import { covering, other } from '../support/certificates.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();

test('a certificate is taken once whenever its files have changed; why a pair cannot be used is logged once', async () => {
  const files = { certificate: path.join(directory, 'cert.pem'), key: path.join(directory, 'key.pem') };
  const write = (certificate: string, key: string): void => {
    writeFileSync(files.certificate, certificate);
    writeFileSync(files.key, key);
  };
  const taken: unknown[] = [];
  const log = new LogRecorder();
  const watched = new CertificateFiles(files, { setSecureContext: (options) => taken.push(options) }, log.logger);
  const look = async (times: number): Promise<readonly unknown[]> => {
    const before = log.entries.length;
    for (let time = 0; time < times; time++) await watched.look();
    return log.entries.slice(before).map(({ level, msg, file, problem }) => [level, msg, file, problem]);
  };
  const unusable = (problem: unknown) => [40, 'the certificate of the API can not be used: the previous one stays in use', files.certificate, problem];

  write(covering.certificate, covering.key);
  expect(await look(2)).toEqual([]);
  expect(taken).toEqual([{ cert: covering.certificate, key: covering.key }]);
  write(covering.certificate, other.key);
  const wrongKey = unusable('the key is not that of the certificate');
  expect(await look(2)).toEqual([wrongKey]);
  rmSync(files.key);
  expect(await look(2)).toEqual([unusable(expect.stringContaining('ENOENT'))]);
  write(covering.certificate, other.key);
  expect(await look(2)).toEqual([wrongKey]);
  expect(taken.length).toBe(1);
  write(other.certificate, other.key);
  expect(await look(2)).toEqual([[30, 'the certificate of the API was replaced', files.certificate, undefined]]);
  expect(taken.slice(1)).toEqual([{ cert: other.certificate, key: other.key }]);
  // The problem is a new one after a pair that could be used.
  write(covering.certificate, other.key);
  expect(await look(2)).toEqual([wrongKey]);
});
