import http from 'node:http';
import https from 'node:https';

/**
 * Sends a JSON body to a server on this machine, and returns the response. No timeout: an import takes as long as it takes, and a server that dies closes
 * the connection. Certificates are not checked: theirs is for another name, and the connection does not leave the machine.
 */
export async function post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } };
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
