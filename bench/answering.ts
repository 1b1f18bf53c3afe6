import { once } from 'node:events';
import net from 'node:net';
import type { Child } from '../test/support/child.ts';

/** Waits until a port of this machine accepts connections, for programs that don't say when they listen. @throws after five seconds, or when the program ends */
export async function answering(port: number, program: Child): Promise<void> {
  const until = performance.now() + 5000;
  for (;;) {
    const socket = net.connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      socket.destroy();
      return;
    } catch (error) {
      if (performance.now() > until) throw new Error(`nobody listens on port ${port}`, { cause: error });
      if (program.over) throw new Error(`a program ended that was to listen on port ${port}:\n${program.output}`, { cause: error });
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
  }
}
