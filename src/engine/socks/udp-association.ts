import { type DatagramBudget, DatagramSocket } from '../../wire/datagram-socket.ts';
import { unmapped } from '../../wire/mapped-address.ts';
import type { UdpAddress } from '../../wire/udp-socket.ts';
import type { UdpPort } from '../ports/udp-port.ts';
import { DATAGRAM_START, parseDatagram } from './messages.ts';

/** What an association needs of its proxy. */
export interface AssociationContext {
  readonly budget: DatagramBudget;
  /** Datagrams were dropped. */
  onDropped(count: number): void;
  /** It is over; called once. */
  onClose(): void;
}

/**
 * The datagrams of one visitor (RFC 1928, 7): a UDP port of the server for this visitor alone, and a stream on which the agent exchanges them with
 * the addresses that they name. Only datagrams from the address of the visitor's TCP connection are accepted, and only from the port of the first one.
 */
export class UdpAssociation {
  /** To be joined with the stream. */
  readonly session: DatagramSocket;
  /** The address for the visitor's datagrams. */
  readonly port: number;
  readonly #port: UdpPort;
  readonly #address: string;
  readonly #context: AssociationContext;
  #visitor: UdpAddress | undefined;

  constructor(port: UdpPort, { remoteAddress, remotePort }: { readonly remoteAddress: string; readonly remotePort: number }, context: AssociationContext) {
    this.port = port.port;
    this.#port = port;
    this.#address = remoteAddress;
    this.#context = context;
    this.session = new DatagramSocket({
      remoteAddress,
      remotePort,
      budget: context.budget,
      onDatagram: (bytes) => this.#toVisitor(bytes),
      onPeerDropped: (count) => context.onDropped(count),
      onClose: () => {
        void port.close();
        context.onClose();
      },
    });
    port.serve({ onDatagram: (bytes, from) => this.#fromVisitor(bytes, from), onDropped: () => context.onDropped(1) });
  }

  #fromVisitor(bytes: Buffer, from: UdpAddress): void {
    if (unmapped(from.address) !== this.#address) return;
    this.#visitor ??= from;
    const datagram = from.port === this.#visitor.port ? parseDatagram(bytes) : undefined;
    if (!datagram || !this.session.send(datagram)) this.#context.onDropped(1);
  }

  #toVisitor(bytes: Buffer): void {
    // Nothing can have been sent to the visitor's peers before its first datagram.
    if (this.#visitor) this.#port.send(Buffer.concat([DATAGRAM_START, bytes]), this.#visitor);
    else this.#context.onDropped(1);
  }
}
