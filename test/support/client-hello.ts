import { Duplex } from 'node:stream';
import tls from 'node:tls';

/** What a visitor of TLS sends first. */
export function clientHello(options: tls.ConnectionOptions): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        resolve(chunk);
        done();
      },
    });
    tls.connect({ ...options, socket }).on('error', () => undefined);
  });
}
