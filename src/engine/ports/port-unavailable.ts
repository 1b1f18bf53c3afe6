/** A port that is occupied, outside `allowPorts` or on an address that this machine lacks; the message is for the operator. */
export class PortUnavailableError extends Error {
  override readonly name = 'PortUnavailableError';
  /** The tunnel that has it; null = another program has it. Absent = it is not in use. */
  readonly holder: number | null | undefined;

  constructor(message: string, { holder, cause }: { readonly holder?: number | null; readonly cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.holder = holder;
  }
}
