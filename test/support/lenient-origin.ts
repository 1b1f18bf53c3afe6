import { once } from 'node:events';
import net from 'node:net';
import type { AnsweringOrigin } from './answering-origins.ts';
import { portOf } from './raw-origin.ts';
import { Taken } from './taken.ts';

/**
 * An origin that takes nearly anything for a request: bare line feeds, blanks around names, lengths with something behind them, a
 * coding that merely has "chunked" in it. Whatever another program could misread, it does.
 */
export async function startLenientOrigin(): Promise<AnsweringOrigin> {
  const taken = new Taken();
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    let text = '';
    sockets.add(socket);
    socket.setEncoding('latin1').on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    socket.on('data', (data: string) => {
      text += data;
      for (;;) {
        const request = misread(text);
        if (!request) return;
        text = text.slice(request.length);
        taken.add({ line: request.line, fields: request.fields, body: request.body });
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello');
      }
    });
    // What is left is no whole request, or one whose end it makes up.
    socket.on('end', () => {
      if (text.trim() !== '') taken.add({ line: text.trimStart().split(/[\r\n]/)[0] ?? '', fields: [], body: '(cut off)' });
      socket.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    target: `127.0.0.1:${portOf(server)}`,
    taken: taken.list,
    took: () => taken.next(),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** The first request of a text, in the most lenient reading; undefined = it isn't whole. */
function misread(text: string): { readonly line: string; readonly fields: string[]; readonly body: string; readonly length: number } | undefined {
  const head = /^\s*([^\r\n]+)[\r\n]+([^]*?)(?:\r?\n\r?\n|\r\r)/.exec(text);
  if (!head) return undefined;
  const [all, line = '', rest = ''] = head;
  const fields = rest.split(/[\r\n]+/).filter(Boolean);
  const valueOf = (name: RegExp): string | undefined => fields.find((field) => name.test(field))?.replace(/^[^:=]*[:=]?/, '');
  const coding = valueOf(/transfer.?encoding/i);
  if (coding !== undefined && /chunk/i.test(coding)) {
    const end = /\r?\n0[^\n]*\n(?:[^\n]+\n)*\r?\n|^0[^\n]*\n(?:[^\n]+\n)*\r?\n/.exec(text.slice(all.length));
    return end ? { line, fields, body: text.slice(all.length, all.length + end.index), length: all.length + end.index + end[0].length } : undefined;
  }
  const length = Number.parseInt(valueOf(/content.?length/i) ?? '0', 10) || 0;
  return text.length < all.length + length ? undefined : { line, fields, body: text.slice(all.length, all.length + length), length: all.length + length };
}
