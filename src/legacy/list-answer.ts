import type { Response } from 'express';
import { jsonPieces } from './json-pieces.ts';
import type { OperationContext } from './operation.ts';

/** Rows that are read first: a panel's usual page. */
const firstRows = 10;
/** Maximum rows of a part. */
const mostRows = 100;
/** Target size of a part in characters, estimated from the previous part. A shorter list is sent with a Content-Length. */
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
 * Sends a list while it is produced: a short one in one piece with a Content-Length, a longer one in parts, each after the reader has received the
 * previous ones. If a list fails after the first part, the response is truncated, and the caller closes the connection.
 */
export async function sendList(response: Response, list: ListAnswer, context: OperationContext): Promise<void> {
  let endSlot: (() => void) | undefined;
  let text = '{"rows":[';
  let sent = 0;
  /** Sends the text so far. From then on, the list is one of the caller's long operations, until its reader has received it. */
  const flush = async (): Promise<void> => {
    endSlot ??= await context.takeSlot();
    await context.nextSlice();
    if (!response.destroyed && !response.write(text)) await drained(response);
    text = '';
  };
  try {
    for (let count = firstRows; !response.destroyed;) {
      await context.nextSlice();
      const { rows, ...rest } = await list.next(count);
      // The texts of a row may have 2 MB, so reading and serializing each use time slices of their own.
      await context.nextSlice();
      let length = 0;
      for (const row of rows) {
        if (sent++ > 0) text += ',';
        for (const piece of jsonPieces(row)) {
          length += piece.length;
          text += piece;
          if (text.length > partLength) await flush();
          if (response.destroyed) return;
        }
      }
      if (list.ended) {
        if (text.length > partLength) await flush();
        response.end(`${text}],${JSON.stringify(rest).slice(1)}`);
        return;
      }
      const short = sent < mostRows && text.length < partLength;
      count = Math.max(1, Math.min(short ? mostRows - sent : mostRows, Math.floor(partLength * rows.length / Math.max(1, length))));
      if (!short) await flush();
    }
  } finally {
    endSlot?.();
  }
}

/** Sends a response that is no list. A long one is one of the caller's long operations until its reader has received it. */
export async function sendRecord(response: Response, body: object, context: OperationContext): Promise<void> {
  const text = JSON.stringify(body);
  if (text.length > partLength) {
    const endSlot = await context.takeSlot();
    response.once('close', endSlot);
    if (response.closed) endSlot();
  }
  response.end(text);
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
