import { DatagramBudget } from '../../wire/datagram-socket.ts';
import { ConnectionShares, type ShareLimits } from '../../rules/connection-shares.ts';
import type { UdpPort } from '../ports/udp-port.ts';
import { UdpAssociation } from './udp-association.ts';

/** Maximum concurrent associations of one proxy: each holds a UDP port here and one at the agent. */
const LIMITS: ShareLimits = { total: 1024, perAddress: 64 };

/** The UDP associations of one proxy. */
export class UdpAssociations {
  readonly #shares = new ConnectionShares(LIMITS);
  readonly #budget = new DatagramBudget();
  #dropped = 0;

  /** Datagrams that were dropped since the server started. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Begins one; undefined = there are too many. `session.destroy()` ends it.
   * @param bind binds a UDP port for it
   * @throws what `bind` throws
   */
  async open(
    visitor: { readonly remoteAddress: string; readonly remotePort: number },
    bind: () => Promise<UdpPort>,
    onClose: () => void,
  ): Promise<UdpAssociation | undefined> {
    const { remoteAddress } = visitor;
    if (!this.#shares.enter(remoteAddress)) return undefined;
    const leave = (): void => this.#shares.leave(remoteAddress);
    const port = await bind().catch((error: unknown) => {
      leave();
      throw error;
    });
    return new UdpAssociation(port, visitor, {
      budget: this.#budget,
      onDropped: (count) => {
        this.#dropped += count;
      },
      onClose: () => {
        leave();
        onClose();
      },
    });
  }
}
