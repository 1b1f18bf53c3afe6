import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Mutant } from './operators.ts';

/** A mutant that no suite can notice, or need not, and why. */
export interface Explanation {
  readonly file: string;
  /** The changed line, without the blanks around it. */
  readonly line: string;
  readonly change: string;
  readonly why: string;
}

/** Survivors that were looked at one by one. */
const explanations: readonly Explanation[] = [
  {
    file: 'src/wire/datagram-socket.ts',
    line: 'const bytes = this.#rest.length === 0 && !taken ? chunk : Buffer.concat([this.#rest, chunk]);',
    change: 'this.#rest.length === 0 && !taken ? chunk : Buffer.concat([this.#rest, chunk]) → false ? chunk : Buffer.concat([this.#rest, chunk])',
    why: 'All bytes are copied instead of only those that are borrowed or continue a datagram: slower, with the same datagrams.',
  },
  {
    file: 'src/engine/http/plain-lines.ts',
    line: 'const known: Array<Known | undefined> = Array.from({ length: 32 * (LONGEST + 1) });',
    change: 'LONGEST + 1 → LONGEST - 1',
    why: 'The table is shorter at first, and grows when the names are put in. What lies beyond its end is undefined, as an empty place is.',
  },
  {
    file: 'src/stream-handlers/answerer.ts',
    line: 'if (left > 0) this.#answering.set(by, left);',
    change:
      'if (left > 0) this.#answering.set(by, left); else this.#answering.delete(by); → if (true) this.#answering.set(by, left); else this.#answering.delete(by);',
    why: 'The count 0 of a tunnel or host is kept, which means the same as no count: a few dozen bytes of memory for each that the agent ever served.',
  },
  {
    file: 'src/engine/limits/meter.ts',
    line: 'if (!this.#active) this.#activate();',
    change: 'if (!this.#active) this.#activate(); → if (true) this.#activate();',
    why: 'A meter that is watched is put into the two sets again, which changes nothing: each chunk costs two more look-ups.',
  },
  {
    file: 'src/engine/vhost/hosts.ts',
    line: 'if (++looked % HOSTS_TOGETHER === 0) await setImmediate();',
    change: 'if (++looked % HOSTS_TOGETHER === 0) await setImmediate(); → if (true) await setImmediate();',
    why: 'The event loop gets a turn after each host instead of after some of them: slower, with the same hosts.',
  },
  {
    file: 'src/engine/vhost/response/http2-response.ts',
    line: 'const last = this.#whole ? pieces.pop() : undefined;',
    change: 'this.#whole ? pieces.pop() : undefined → false ? pieces.pop() : undefined',
    why: 'The end of a response is sent in a frame of its own instead of with the last piece: one frame more, with the same response.',
  },
  {
    file: 'src/engine/http/proxy-request.ts',
    line: 'if (head instanceof PlainRequestHead) return readPlainRequest(head, isOwn);',
    change: 'if (head instanceof PlainRequestHead) return readPlainRequest(head, isOwn); → if (false) return readPlainRequest(head, isOwn);',
    why: 'Every head is read field by field, also a plain one, whose result is the same: slower.',
  },
  {
    file: 'src/stream-handlers/files/file-server.ts',
    line: 'if (error) this.#log.warn(`a directory could not be listed: ${messageOf(error)}`);',
    change:
      'if (error) this.#log.warn(`a directory could not be listed: ${messageOf(error)}`); → if (true) this.#log.warn(`a directory could not be listed: ${messageOf(error)}`);',
    why:
      'Without an error only when the directory disappears between two looks at it, which no test can arrange: the log has a line more, with the same answer.',
  },
  {
    file: 'src/engine/vhost/hosts.ts',
    line: 'if (!entry.certificate && !byName.has(entry.host)) byName.set(entry.host, this.#certificateNamed(entry.host));',
    change:
      'if (!entry.certificate && !byName.has(entry.host)) byName.set(entry.host, this.#certificateNamed(en… → if (true) byName.set(entry.host, this.#certificateNamed(entry.host));',
    why: 'The certificate of a name is also looked up for hosts that have their own, which is what is used: slower, with the same hosts.',
  },
  {
    file: 'src/wire/captured-stream.ts',
    line: 'this.#drainWanted = false;',
    change: 'false → true',
    why: 'The socket says again that it takes more, which its owners expect at any time.',
  },
  {
    file: 'src/engine/http/plain-lines.ts',
    line: 'const candidate = length > LONGEST ? undefined : known[slotOf(bytes[line] ?? 0, length)];',
    change: 'length > LONGEST ? undefined : known[slotOf(bytes[line] ?? 0, length)] → false ? undefined : known[slotOf(bytes[line] ?? 0, length)]',
    why:
      'A name that is too long is looked up in the rows of other letters, or beyond the table: their names begin with another letter, so it is none of them.',
  },
  {
    file: 'src/engine/http/dechunk.ts',
    line: 'if (content.length === 0) {',
    change:
      'if (content.length === 0) { content = bytes.subarray(at, end); } else { if (!joined) length = conte… → if (false) { content = bytes.subarray(at, end); } else { if (!joined) length = content.copy(joined …',
    why: 'A single chunk is copied, too: slower, with the same content.',
  },
  {
    file: 'src/agent/direct/direct-paths.ts',
    line: 'if (this.#closed) {',
    change: "if (this.#closed) { mux.close('the visitor ended it'); return; } → if (false) { mux.close('the visitor ended it'); return; }",
    why: 'A path that opens after the visitor has ended is closed in the same turn, since its signaling has ended, too: only a line of the log is wrong.',
  },
  {
    file: 'src/engine/vhost/tls/covered-hosts.ts',
    line: 'if (known.size >= REMEMBERED) known.clear();',
    change: 'if (known.size >= REMEMBERED) known.clear(); → if (true) known.clear();',
    why: 'Only the last answer is remembered: the certificate is asked more often, with the same answers.',
  },
  {
    file: 'src/store/sqlite/hot-connection.ts',
    line: 'prepared.asJson ??= this.#statement(`SELECT ${arrayOf(columns)} FROM (${sql})`, false);',
    change:
      'prepared.asJson ??= this.#statement(`SELECT ${arrayOf(columns)} FROM (${sql})`, false) → prepared.asJson = this.#statement(`SELECT ${arrayOf(columns)} FROM (${sql})`, false)',
    why: 'The statement is prepared for each query instead of once: slower, with the same rows.',
  },
  {
    file: 'src/store/hot/page.ts',
    line: "if ((query.limit !== undefined && query.limit <= pagesRows) || query.search?.includes('\\0')) {",
    change: 'query.limit <= pagesRows → query.limit < pagesRows',
    why: 'A list of exactly 100 rows is read by its ids, as longer ones are: one query more, with the same rows.',
  },
  {
    file: 'src/stream-handlers/udp-any.ts',
    line: 'this.#names.set(name, { address, until: now + KEEP_MS });',
    change: 'this.#names.set(name, { address, until: now + KEEP_MS }); → ;',
    why: "Each datagram's name is looked up again instead of every 30 s: slower, with the same datagrams.",
  },
  {
    file: 'src/agent/status/status-socket.ts',
    line: 'if (!onWindows) await chmod(place, 0o600);',
    change: 'if (!onWindows) await chmod(place, 0o600); → if (true) await chmod(place, 0o600);',
    why: 'The condition is true wherever the suites run: they need Linux.',
  },
  {
    file: 'src/store/sqlite/hot-connection.ts',
    line: "if (error instanceof Error && error.message.includes('JSON cannot hold BLOB')) return undefined;",
    change:
      "error instanceof Error && error.message.includes('JSON cannot hold BLOB') → error instanceof Error || error.message.includes('JSON cannot hold BLOB')",
    why: 'Another error does not end the first reading, but the second one, which reads values: the same error is thrown.',
  },
  {
    file: 'src/store/hot/client-page.ts',
    line: "clientId !== undefined || (order !== 'LAST_ONLINE_AT' && (ownerId === undefined || order === 'ID' || (ownerId !== null && ownOrders.has(order)))),",
    change: "order === 'ID' → order !== 'ID'",
    why: 'A list is searched by an index or sorted, as the cost is estimated: the same rows, at another speed.',
  },
  {
    file: 'src/http/graphql.ts',
    line: 'if (!isAsyncIterable(result) && result.data === undefined && result.errors !== undefined) {',
    change:
      '!isAsyncIterable(result) && result.data === undefined && result.errors !== undefined → !isAsyncIterable(result) && result.data === undefined || result.errors !== undefined',
    why: 'The errors of fields have a path, and are reported as they are in both cases; they are only masked twice, which changes nothing.',
  },
  {
    file: 'src/wire/socket-trials.ts',
    line: 'assert(plain && ended && writing);',
    change: 'plain && ended → plain || ended',
    why: "Three pairs are asked for and come: the assertion, which is there for the types, can't fail.",
  },
  {
    file: 'src/engine/limits/client-usage.ts',
    line: 'return this.#maxConnections > 0 && this.connections > this.#maxConnections ? [...this.open].slice(this.#maxConnections) : [];',
    change: 'this.connections > this.#maxConnections → this.connections >= this.#maxConnections',
    why: 'At the limit there are none beyond it: the list is empty in both cases.',
  },
  {
    file: 'src/stream-handlers/files/file-server.ts',
    line: "page(response, error ? 500 : 404, error ? 'The agent could not read this.' : 'There is nothing here.');",
    change: "page(response, error ? 500 : 404, error ? 'The agent could not read this.' : 'There is nothing here… → ;",
    why: 'Only when the directory disappears between two looks at it, which no test can arrange: then the visitor would get no answer.',
  },
  {
    file: 'src/rules/remember.ts',
    line: 'if (text.length > LONGEST) return compute(text);',
    change: 'text.length > LONGEST → text.length >= LONGEST',
    why: 'A text of exactly that length is computed each time: slower, with the same result.',
  },
  {
    file: 'src/rules/host-location.ts',
    line: "while (end > 0 && trimmed[end - 1] === '/') end--;",
    change: 'end > 0 → end >= 0',
    why: 'Before the first character there is none, so none is taken off there either.',
  },
  {
    file: 'src/engine/tunnels/connection.ts',
    line: 'this.#counted.client.rateLimit?.leave(this);',
    change: 'this.#counted.client.rateLimit?.leave(this); → ;',
    why: 'When its turn comes, nothing waits in it any more, and it is not queued again.',
  },
  {
    file: 'src/store/transaction.ts',
    line: 'if (job !== first) await setImmediate(); // spreads the answers of many writes over several iterations',
    change: 'await setImmediate(); → ;',
    why: 'The answers of writes that shared a transaction are given in one iteration of the event loop instead of several, which only delays others.',
  },
  {
    file: 'src/store/transaction.ts',
    line: 'inside.disable();',
    change: 'inside.disable(); → ;',
    why: 'Node goes on to track every promise: slower, with the same writes.',
  },
  {
    file: 'src/stream-handlers/files/file-server.ts',
    line: 'if (response.headersSent) response.destroy();',
    change: 'response.destroy(); → ;',
    why: 'Nothing that is known fails here after the head of a response was sent: then the visitor would wait for its rest.',
  },
  {
    file: 'src/schema/host/columns.ts',
    line: "hostChange: { audit: 'value', shown: 'hostChange', input: 'hostChange', declared: true },",
    change: 'true → false',
    why: 'Only the types read this value, so the compiler detects it: no field of a declared host would have that name.',
  },
  {
    file: 'src/rules/chosen-keys.ts',
    line: 'if (this.#owners.size > OWNERS) dropOldest(this.#owners);',
    change: 'this.#owners.size > OWNERS → this.#owners.size >= OWNERS',
    why: 'One owner fewer is remembered, of thousands.',
  },
  {
    file: 'src/engine/tunnels/tunnels.ts',
    line: 'await Promise.all(together);',
    change: 'await Promise.all(together); → ;',
    why:
      'The caller goes on in the iteration of the event loop in which the listeners open or close, instead of after it: nothing can connect in between. In the loop: all at once instead of some.',
  },
  {
    file: 'src/engine/vhost/tls/https-front.ts',
    line: 'if (!secureContext) {',
    change:
      `if (!secureContext) { this.#context.trace?.say(socket, 'refused', { cause: 'the host has no certifi… → if (false) { this.#context.trace?.say(socket, 'refused', { cause: 'the host has no certificate', ho…`,
    why: 'Node refuses the handshake with the same alert, since it has no certificate either: only a line of the log of visitors is missing.',
  },
  {
    file: 'src/engine/tunnels/http-proxy-visitor.ts',
    line: '#idle = false;',
    change: 'false → true',
    why: '`serve` sets it before anything can ask for it.',
  },
  {
    file: 'src/wire/base-socket.ts',
    line: 'sink?.onData(lent && !sink.borrows ? Buffer.from(chunk) : chunk);',
    change: 'lent && !sink.borrows ? Buffer.from(chunk) : chunk → true ? Buffer.from(chunk) : chunk',
    why: 'All bytes are copied for their reader, also those that it may keep or that it copies itself: slower, with the same bytes.',
  },
  {
    file: 'src/stream-handlers/files/file-server.ts',
    line: `page(response, error ? 500 : 404, error ? 'The agent could not read this.' : 'There is nothing here.');`,
    change: 'error ? 500 : 404 → false ? 500 : 404',
    why: 'Only when the directory disappears between two looks at it, which no test can arrange.',
  },
  {
    file: 'src/store/hot/host-page.ts',
    line: `indexed: (order = 'ID') => order === 'ID' || (!movingOrders.has(order) && clientId === undefined && ownerId !== null),`,
    change: '!movingOrders.has(order) && clientId === undefined → !movingOrders.has(order) || clientId === undefined',
    why: 'A list is searched by an index or sorted, as the cost is estimated: the same rows, at another speed.',
  },
  {
    file: 'src/engine/http/plain-head.ts',
    line: 'if (cut > start) at += from.copy(out, at, start, cut);',
    change: 'cut > start → cut >= start',
    why: 'No bytes are copied, by a call: slower, with the same head.',
  },
  {
    file: 'src/engine/tunnels/connections.ts',
    line: 'const stream = full ? undefined : session.open(payload, dataFollows, credit, session.elsewhere ? this.#visitorOf(socket) : undefined);',
    change: 'session.elsewhere ? this.#visitorOf(socket) : undefined → true ? this.#visitorOf(socket) : undefined',
    why: 'A session with an agent does not look at the visitor.',
  },
  {
    file: 'src/wire/stream.ts',
    line: 'if (more === 0) return;',
    change: 'if (more === 0) return; → if (false) return;',
    why: '0 is added to what is held, which changes nothing.',
  },
];

/** Why a mutant survives. @param root of the repository */
export function explanationOf({ file, line, change }: Mutant, root: string): Explanation | undefined {
  const text = readFileSync(path.join(root, file), 'utf8').split('\n')[line - 1]?.trim();
  return explanations.find((each) => each.file === file && each.line === text && each.change === change);
}
