// Arguments: a data directory and a prefix. Eight writers add clients for ever, each with its counts; stdout names what was acknowledged.
import pino from 'pino';
import { openStore } from '../../../src/store/store.ts';

const [dataDir = '', prefix = ''] = process.argv.slice(2);
const store = await openStore({ url: '', dataDir, log: pino({ level: 'silent' }) });
await Promise.all(Array.from({ length: 8 }, async (_, writer) => {
  for (let n = 0;; n++) {
    const vkey = `${prefix}-${writer}-${n}`;
    await store.transaction(async (tx) => {
      const { id: clientId } = await tx.client.create({ data: { vkey } });
      await tx.tunnel.create({ data: { clientId, mode: 'tcp', remark: vkey } });
    });
    process.stdout.write(`${vkey}\n`);
  }
}));
