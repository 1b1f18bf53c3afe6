import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { ServerProcess } from './processes.ts';

/** The processes that a program has started and that live, in no order. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** How many files and sockets a process has open. */
export function openFilesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** The processes of a server that are bound to a port on 127.0.0.1. */
export function holdersOf({ child }: Pick<ServerProcess, 'child'>, transport: 'tcp' | 'udp', port: number): number[] {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = readFileSync(`/proc/net/${transport}`, 'utf8').split('\n').flatMap((line) => {
    const words = line.trim().split(/ +/);
    return words[1] === local ? [`socket:[${words[9]}]`] : [];
  });
  return childrenOf(child.pid).filter((pid) => socketsOf(pid).some((socket) => inodes.includes(socket)));
}

function socketsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return []; // closed meanwhile
    }
  });
}
