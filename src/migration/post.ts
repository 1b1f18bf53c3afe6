import http from 'node:http';
import https from 'node:https';
import type { Settings } from '../settings/settings.ts';
import { bracketed } from '../rules/host-port.ts';

/** The address of the GraphQL endpoint of the server that runs on this machine with these settings. A server on all addresses is reached on the loopback. */
export function graphqlUrl(
  { httpHost, httpPort, httpTls, httpTlsCert, basePath }: Pick<Settings, 'httpHost' | 'httpPort' | 'httpTls' | 'httpTlsCert' | 'basePath'>,
): string {
  const scheme = httpTls === 'off' && httpTlsCert === '' ? 'http' : 'https';
  const host = httpHost === '0.0.0.0' ? '127.0.0.1' : httpHost === '::' ? '::1' : httpHost;
  return `${scheme}://${bracketed(host)}:${httpPort}${basePath}/graphql`;
}

/**
 * Sends a JSON body to a server on this machine, and returns the response. Certificates are not checked: theirs is for another name, and the connection does not leave the machine.
 * @param signal ends it; absent = no timeout: an import takes as long as it takes, and a server that dies closes the connection
 */
export async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal?: AbortSignal,
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      ...signal && { signal },
    };
    const request = url.startsWith('https:') ? https.request(url, { ...options, rejectUnauthorized: false }) : http.request(url, options);
    request.once('error', reject);
    request.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
    });
    request.end(body);
  });
}
