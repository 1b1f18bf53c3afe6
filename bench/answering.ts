import { once } from 'node:events';
import net from 'node:net';
import type { Child } from '../test/support/child.ts';

/** Waits until a port of this machine accepts connections, for programs that don't say when they listen. @throws after five seconds, or when the program ends */
export async function answering(port: number, program: Child): Promise<void> {
  await eventually(port, program, async () => {
    const socket = net.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
  });
}

/** Waits until a port of this machine answers requests to `localhost`: a tunnel's, whose server listens before its client is there. @throws as `answering` does */
export async function serving(port: number, program: Child): Promise<void> {
  await eventually(port, program, async () => {
    const { status } = await fetch(`http://localhost:${port}/`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(1000) });
    if (status !== 200) throw new Error(`answered with ${status}`);
  });
}

async function eventually(port: number, program: Child, attempt: () => Promise<void>): Promise<void> {
  const until = performance.now() + 5000;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (performance.now() > until) throw new Error(`nobody answers on port ${port}:\n${program.output}`, { cause: error });
      if (program.over) throw new Error(`a program ended that was to listen on port ${port}:\n${program.output}`, { cause: error });
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
  }
}
