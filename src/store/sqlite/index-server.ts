import type { SearchIndex, Stamp } from '../search/search-index.ts';
import type { SegmentRow } from '../search/segment.ts';
import type { IndexRequest } from './protocol.ts';
import { settle, type Reply } from './reply.ts';

/** Handles requests to the worker with PostgreSQL's search index. */
export function serveIndex(index: SearchIndex, request: IndexRequest, reply: Reply): void {
  settle(reply, () => {
    switch (request[0]) {
      case 'stale':
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `stampsSql` makes it so
        return index.stale(request[1], JSON.parse(request[2]) as Stamp[]);
      case 'put':
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `rowsSql` makes it so
        return index.put(request[1], request[2], JSON.parse(request[3]) as SegmentRow[]);
      case 'find':
        return index.find(request[1]);
      case 'close':
        return undefined;
    }
  });
}
