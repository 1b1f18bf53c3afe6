/** Many agents in one process, with the code of the real one: `agent-crowd.ts PORT FIRST COUNT [FINGERPRINT]`. Their keys are "keyN". Prints a line of JSON for each change. */
import process from 'node:process';
import pino from 'pino';
import { z } from 'zod';
import { Agent } from '../../src/agent/agent.ts';
import { onreadBackend } from '../../src/wire/onread-socket.ts';

const [port = '', first = '', count = '', fingerprint] = process.argv.slice(2);
const state = z.object({ state: z.object({ event: z.enum(['connected', 'disconnected']), reason: z.string().default(''), retryMs: z.number().default(0) }) });

for (let index = Number(first); index < Number(first) + Number(count); index++) {
  const log = pino({ level: 'info' }, {
    write(line: string) {
      const { data } = state.safeParse(JSON.parse(line));
      if (data) process.stdout.write(`${JSON.stringify({ agent: index, at: Date.now(), ...data.state })}\n`);
    },
  });
  const agent = new Agent({
    servers: [{ host: '127.0.0.1', port: Number(port) }],
    ...(fingerprint && { tls: { fingerprint } }),
    vkey: `key${index}`,
    log,
    version: '0.1.0',
    sockets: onreadBackend,
  });
  void agent.run();
}
