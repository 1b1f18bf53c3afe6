import path from 'node:path';
import { acmeFault } from '../rules/acme-name.ts';
import { hostOfUrl } from '../rules/host-name.ts';
import type { Settings } from './settings.ts';
import { SettingsError } from './settings-error.ts';
import { identityFromFiles, keptIdentity, pinOf, type TlsIdentity } from './tls-identity.ts';

/** The HTTPS of the API. */
export interface HttpTls {
  /** What the server starts with. */
  readonly identity: TlsIdentity;
  /** The files whose contents replace it, when they are there and usable; undefined = it is never replaced. */
  readonly files: { readonly certificate: string; readonly key: string } | undefined;
  /** The pin of the key, for those who can't check the certificate because no authority signed it; "" = an authority did. */
  readonly pin: string;
}

type TlsSettings = Pick<Settings, 'dataDir' | 'httpTls' | 'httpTlsCert' | 'httpTlsKey' | 'httpRedirectPort' | 'publicUrl' | 'acme'>;

/**
 * How the API is served over HTTPS; undefined = it is not. With ACME, a self-signed certificate is used until the first one has arrived.
 * @param generate the command that prints a certificate, without the names that it is for
 * @param order returns the file in which ACME keeps the certificate of a name; undefined = ACME is off
 * @throws {SettingsError} for settings that don't fit each other, and files that can't be used
 */
export async function httpTls(settings: TlsSettings, generate: readonly string[], order: (name: string) => string | undefined): Promise<HttpTls | undefined> {
  const { dataDir, httpTls: how, httpTlsCert, httpTlsKey, httpRedirectPort, publicUrl } = settings;
  if ((httpTlsCert === '') !== (httpTlsKey === '')) throw new SettingsError(['http_tls_cert, http_tls_key: must be given both or not at all']);
  if (httpTlsCert !== '') {
    const identity = identityFromFiles(httpTlsCert, httpTlsKey, 'http_tls_cert, http_tls_key');
    return { identity, files: { certificate: httpTlsCert, key: httpTlsKey }, pin: '' };
  }
  if (how === 'off') {
    if (httpRedirectPort !== '') throw new SettingsError(['http_redirect_port: needs HTTPS: set http_tls, or http_tls_cert and http_tls_key']);
    return undefined;
  }
  const name = hostOfUrl(publicUrl);
  const identity = await keptIdentity(path.join(dataDir, 'http-tls.pem'), [...generate, 'Adit API', ...name === '' ? [] : [name]]);
  if (how === 'self-signed') return { identity, files: undefined, pin: pinOf(identity) };
  const fault = name === '' ? 'must have the name' : acmeFault(name);
  if (fault !== '') throw new SettingsError([`public_url: ${fault} for which http_tls = "acme" gets a certificate`]);
  const file = order(name);
  if (file === undefined) throw new SettingsError(['http_tls: "acme" needs acme = true']);
  return { identity, files: { certificate: file, key: file }, pin: '' };
}
