/** A port that is occupied, outside `allowPorts` or on an address that this machine lacks; the message is for the operator. */
export class PortUnavailableError extends Error {
  override readonly name = 'PortUnavailableError';
}
