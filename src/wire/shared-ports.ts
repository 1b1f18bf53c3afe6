/**
 * Ports that several processes of this program listen on together. The system gives each connection to one of them, and a connection that a process has not accepted when it dies
 * to another one.
 */
export interface SharedPorts {
  /**
   * How listeners of a purpose get their port: those of the same purpose, address and port share one.
   * @param purpose so that no other part of the program can get the connections, whatever port it asks for
   */
  of(purpose: string): SharePort;
  /** UDP ports: each belongs to one process at a time. */
  readonly owned: OwnedPorts;
}

/**
 * Gets a port. @param host "" = all addresses
 * @returns a handle for `net.Server.listen`; when the server closes it, this process no longer uses the port
 * @throws the system's error if another program uses it, its `code` the errno name
 */
export type SharePort = (host: string, port: number) => Promise<object>;

/** Ports that belong to one process each. */
export interface OwnedPorts {
  /**
   * Asks for a port.
   * @param onGranted called when the process that has it gives it up or dies, and this one is the next; this one has it from then on, and no longer asks
   * @returns whether this process has it; otherwise it asks until `release`
   */
  claim(name: string, onGranted: () => void): Promise<boolean>;
  /** Asks for a port that this process does not have, and needs now. @returns whether it has it, after two seconds at most; otherwise it no longer asks */
  claimNow(name: string): Promise<boolean>;
  /** This process no longer has the port, or no longer asks for it. */
  release(name: string): void;
}
