import { lookup } from 'node:dns/promises';
import { formatTarget, parseTarget } from '../rules/targets.ts';
import { messageOf } from '../wire/system-error.ts';
import { UdpSocket } from '../wire/udp-socket.ts';
import { NoTargetError } from './dial-target.ts';

/** A UDP socket that speaks with a target. */
export interface UdpConnection {
  readonly socket: UdpSocket;
  readonly address: string;
  readonly port: number;
}

/**
 * Makes a UDP socket for the first of `targets` whose name is known; whether anybody listens there nobody can know.
 * @throws {NoTargetError}
 */
export async function connectUdp(targets: readonly string[]): Promise<UdpConnection> {
  const problems: string[] = [];
  for (const text of targets) {
    const target = parseTarget(text);
    if (!target) {
      problems.push(`${JSON.stringify(text)} is no target`);
      continue;
    }
    try {
      const { address } = await lookup(target.host);
      return { socket: await UdpSocket.connect({ address, port: target.port }), address, port: target.port };
    } catch (error) {
      problems.push(`${formatTarget(target)}: ${messageOf(error)}`);
    }
  }
  throw new NoTargetError(problems.join('; '));
}
