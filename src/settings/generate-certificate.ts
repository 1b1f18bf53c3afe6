import process from 'node:process';
import { generate } from 'selfsigned';

/** Agents check the fingerprint, not the date, so the certificate needs no renewal. */
const YEARS = 100;

/** Prints a new certificate for the bridge, and its key. Runs in a child process ({@link bridgeIdentity}): the package takes 10 MB, which the server would keep. */
export async function generateCertificate(): Promise<void> {
  const notAfterDate = new Date();
  notAfterDate.setFullYear(notAfterDate.getFullYear() + YEARS);
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'Adit bridge' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notAfterDate,
    extensions: [{ name: 'basicConstraints', cA: false }, { name: 'keyUsage', digitalSignature: true }, { name: 'extKeyUsage', serverAuth: true }],
  });
  process.stdout.write(`${cert.trim()}\n${key.trim()}\n`);
}
