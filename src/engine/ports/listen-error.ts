import { errnoOf, messageOf } from '../../wire/system-error.ts';

/** Says in words why a listener could not be opened. */
export function listenProblem(error: unknown, host: string, port: number): string {
  switch (errnoOf(error)) {
    case 'EADDRINUSE': return `port ${port} is occupied`;
    case 'EADDRNOTAVAIL': return `address ${host} does not belong to this machine`;
    case 'EACCES': return `port ${port} needs rights that the server does not have`;
    case 'EAFNOSUPPORT': return `address ${host} is of a family that this machine lacks`;
    default: return `port ${port} cannot be opened: ${messageOf(error)}`;
  }
}
