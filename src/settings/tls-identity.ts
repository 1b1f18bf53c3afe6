import { execFile } from 'node:child_process';
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { writePrivately } from './private-file.ts';
import { SettingsError } from './settings-error.ts';
import { isMissing } from './sources.ts';

const run = promisify(execFile);

/** A certificate, with its chain, and its key, as PEM texts. */
export interface TlsIdentity {
  readonly certificate: string;
  readonly key: string;
}

/** Reads a certificate and its key from files. @param name of the files in errors @throws {SettingsError} if they can't be read or used */
export function identityFromFiles(certificateFile: string, keyFile: string, name: string): TlsIdentity {
  return checked({ certificate: read(certificateFile), key: read(keyFile) }, name);
}

/**
 * The self-signed certificate in a file and its key, which are generated if the file does not exist.
 * @param generate the command that prints a new certificate and its key ({@link generateCertificate})
 * @throws {SettingsError} if they can't be read, generated, written or used
 */
export async function keptIdentity(file: string, generate: readonly string[]): Promise<TlsIdentity> {
  const pem = kept(file) ?? await generated(file, generate);
  return checked({ certificate: pem, key: pem }, file);
}

/** The pin of a certificate's key, in the form of curl's `--pinnedpubkey`. */
export function pinOf({ certificate }: TlsIdentity): string {
  const key = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256//${createHash('sha256').update(key).digest('base64')}`;
}

/** A secret for the versions of records (schema/values/version.ts), derived from a key that all servers of an installation share and keep. */
export function versionKeyOf({ key }: TlsIdentity): string {
  return createHash('sha256').update('versions of records\0').update(key).digest('hex');
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unusable(file, error);
  }
}

function kept(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw unusable(file, error);
  }
}

async function generated(file: string, [program = '', ...args]: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run(program, args);
    writePrivately(file, stdout);
    return stdout;
  } catch (error) {
    throw unusable(file, error);
  }
}

function checked(identity: TlsIdentity, name: string): TlsIdentity {
  let fits: boolean;
  try {
    fits = new X509Certificate(identity.certificate).checkPrivateKey(createPrivateKey(identity.key));
  } catch (error) {
    throw unusable(name, error); // OpenSSL's messages don't quote the files
  }
  if (!fits) throw new SettingsError([`${name}: the key is not that of the certificate`]);
  return identity;
}

function unusable(name: string, error: unknown): SettingsError {
  return new SettingsError([`${name}: ${error instanceof Error ? error.message : String(error)}`]);
}
