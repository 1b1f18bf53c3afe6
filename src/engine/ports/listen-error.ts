import { errnoOf, messageOf } from '../../wire/system-error.ts';

/** A text for why a listener could not be opened. @param port undefined = no port was chosen yet */
export function listenProblem(error: unknown, host: string, port?: number): string {
  const code = errnoOf(error);
  if (code === 'EADDRNOTAVAIL') return `address ${host} does not belong to this machine`;
  if (code === 'EAFNOSUPPORT') return `address ${host} is of a family that this machine lacks`;
  if (port === undefined) return messageOf(error);
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} is occupied`;
    case 'EACCES':
      return `port ${port} needs rights that the server does not have`;
    default:
      return `port ${port} cannot be opened: ${messageOf(error)}`;
  }
}
