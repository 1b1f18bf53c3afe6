import type { Response } from 'express';
import type { OperationContext } from './operation.ts';

/** Rows of the first part: a panel's usual page, so that it is sent in one part. */
const firstRows = 10;
/** Maximum rows of a part, and of a list that is sent with a Content-Length. */
const mostRows = 100;
/** Target size of a part in characters, estimated from the previous part. */
const partLength = 128 * 1024;

/** Some rows of a list, and the other fields of the response, which are the same in each part. */
export interface ListPart {
  readonly rows: readonly object[];
  readonly total: number;
}

/** A list that is produced in parts, each by a run of its operation. */
export class ListAnswer {
  readonly #walk: { readonly ended: boolean };
  /** The next part. @param count maximum number of rows */
  readonly next: (count: number) => Promise<ListPart>;

  constructor(walk: { readonly ended: boolean }, next: (count: number) => Promise<ListPart>) {
    this.#walk = walk;
    this.next = next;
  }

  /** Whether the last part was returned. */
  get ended(): boolean {
    return this.#walk.ended;
  }
}

/**
 * Sends a list while it is produced: up to a hundred rows in one piece with a Content-Length, a longer list in parts, each after the reader
 * has received the previous ones. If a list fails after the first part, the response is truncated, and the caller closes the connection.
 */
export async function sendList(response: Response, list: ListAnswer, context: OperationContext): Promise<void> {
  let endSlot: (() => void) | undefined;
  try {
    let text = '{"rows":[';
    let sent = 0;
    for (let count = firstRows; ;) {
      await context.nextSlice();
      const all = await list.next(count);
      // The texts of a row may have 2 MB, so reading and serializing each use a time slice of their own.
      await context.nextSlice();
      if (sent === 0 && list.ended) {
        response.end(JSON.stringify(all));
        return;
      }
      const { rows, ...rest } = all;
      const part = rows.length === 0 ? '' : JSON.stringify(rows).slice(1, -1);
      text += sent > 0 && part !== '' ? `,${part}` : part;
      sent += rows.length;
      if (list.ended) {
        response.end(`${text}],${JSON.stringify(rest).slice(1)}`);
        return;
      }
      const short = sent < mostRows && text.length < partLength;
      count = Math.max(1, Math.min(short ? mostRows - sent : mostRows, Math.floor(partLength * rows.length / part.length)));
      if (short) continue;
      endSlot ??= await context.takeSlot();
      await context.nextSlice();
      if (!response.destroyed && !response.write(text)) await drained(response);
      if (response.destroyed) return;
      text = '';
    }
  } finally {
    endSlot?.();
  }
}

/** Waits until the reader has received what was written, or has disconnected. */
function drained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      response.off('drain', end).off('close', end);
      resolve();
    };
    response.on('drain', end).on('close', end);
  });
}
