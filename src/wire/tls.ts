/** TLS 1.3 over the sockets of the bridge. */
import { createHash, X509Certificate } from 'node:crypto';
import type net from 'node:net';
import tls from 'node:tls';
import type { TlsIdentity, TlsTrust } from './socket.ts';

/** As for plain sockets (net-socket.ts): the mux relies on writing this much at once. */
const TUNED = { highWaterMark: 64 * 1024 } as const;
/** RFC 9266, `tls-exporter`. */
const EXPORTER = { label: 'EXPORTER-Channel-Binding', bytes: 32 } as const;

/** The server showed another certificate than the pinned one. */
class FingerprintError extends Error {
  override readonly name = 'FingerprintError';
}

/** The SHA-256 fingerprint of the first certificate in a PEM text: 64 hex digits. @throws when there is none */
export function fingerprintOf(pem: string): string {
  return sha256(new X509Certificate(pem).raw);
}

function sha256(der: Buffer): string {
  return createHash('sha256').update(der).digest('hex');
}

/** @throws when certificate and key are not PEM, or don't match */
export function serverContext({ certificate, key }: TlsIdentity): tls.SecureContext {
  return tls.createSecureContext({ cert: certificate, key, minVersion: 'TLSv1.3' });
}

/** The server's end of TLS on a socket just accepted. Its handshake begins immediately; a failed handshake destroys it with the error. */
export function secureAccepted(socket: net.Socket, secureContext: tls.SecureContext): tls.TLSSocket {
  const secured = new tls.TLSSocket(socket, { ...TUNED, isServer: true, secureContext });
  // Without a tls.Server, nothing else closes a connection that was tampered with after its handshake.
  secured.on('_tlsError', (error: Error) => secured.destroy(error));
  socket.on('error', (error) => secured.destroy(error));
  return secured;
}

/**
 * The client's side of TLS on a connected socket.
 * @param onSecured called once, in the iteration of the event loop in which the handshake completes: with the socket or an error; a {FingerprintError}
 * if the server has another certificate: its connection is then closed without reading from it
 */
export function secureDialled(socket: net.Socket, { fingerprint }: TlsTrust, onSecured: (outcome: tls.TLSSocket | Error) => void): void {
  // Self-signed certificates are usual here: the fingerprint and the proof of the vkey over this channel authenticate the server.
  const secured = tls.connect({ ...TUNED, socket, rejectUnauthorized: false, minVersion: 'TLSv1.3' });
  let failed = false;
  // A second error may follow the first.
  const onError = (error: Error): void => {
    if (!failed) onSecured(error);
    failed = true;
  };
  socket.on('error', (error) => secured.destroy(error));
  secured.on('error', onError);
  secured.once('secureConnect', () => {
    const shown = sha256(secured.getPeerCertificate().raw);
    if (fingerprint !== '' && shown !== fingerprint) {
      secured.destroy(new FingerprintError(`the server's certificate has the fingerprint ${shown}, not the pinned ${fingerprint}`));
      return;
    }
    secured.off('error', onError);
    onSecured(secured);
  });
}

/** @see ByteSocket.channelSecret */
export function channelSecretOf(socket: tls.TLSSocket): Buffer | undefined {
  return socket.destroyed ? undefined : socket.exportKeyingMaterial(EXPORTER.bytes, EXPORTER.label, Buffer.alloc(0));
}
