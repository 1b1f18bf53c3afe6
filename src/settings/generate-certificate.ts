import process from 'node:process';
import { generate } from 'selfsigned';

/** Agents and the pins of machines check the key, not the date, so the certificate needs no renewal. */
const YEARS = 100;

/** Prints a new self-signed certificate, of the bridge unless the words name something else and its DNS names, and its key. Runs in a child process ({@link keptIdentity}): the package takes 10 MB, which the server would keep. */
export async function generateCertificate([commonName = 'Adit bridge', ...names]: readonly string[]): Promise<void> {
  const notAfterDate = new Date();
  notAfterDate.setFullYear(notAfterDate.getFullYear() + YEARS);
  const { cert, private: key } = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notAfterDate,
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'keyUsage', digitalSignature: true },
      { name: 'extKeyUsage', serverAuth: true },
      ...(names.length === 0 ? [] : [{ name: 'subjectAltName' as const, altNames: names.map((value) => ({ type: 2 as const, value })) }]),
    ],
  });
  process.stdout.write(`${cert.trim()}\n${key.trim()}\n`);
}
