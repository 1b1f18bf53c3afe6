import type { Response } from 'express';
import type { OperationContext } from './operation.ts';

/** Rows of the first part: the usual page of a panel, so that it is made in one piece. */
const firstRows = 10;
/** The most rows of a part, and of a list that is sent with its length. */
const mostRows = 100;
/** Characters that a part is to have at most, judging by the one before. */
const partLength = 128 * 1024;

/** Some rows of a list, and what stands beside them, which is the same in each part. */
export interface ListPart {
  readonly rows: readonly object[];
  readonly total: number;
}

/** A list that is made part by part, each by a run of its operation. */
export class ListAnswer {
  readonly #walk: { readonly ended: boolean };
  /** The next part. @param count its most rows */
  readonly next: (count: number) => Promise<ListPart>;

  constructor(walk: { readonly ended: boolean }, next: (count: number) => Promise<ListPart>) {
    this.#walk = walk;
    this.next = next;
  }

  /** That was the last part. */
  get ended(): boolean {
    return this.#walk.ended;
  }
}

/**
 * Sends a list as it is made: up to a hundred rows in one piece with their length, a longer one part by part, each when the reader has taken those
 * before. A list that fails after it was begun ends without its end: the caller cuts the connection.
 */
export async function sendList(response: Response, list: ListAnswer, context: OperationContext): Promise<void> {
  let endSlot: (() => void) | undefined;
  try {
    let text = '{"rows":[';
    let sent = 0;
    for (let count = firstRows; ;) {
      await context.turn();
      const all = await list.next(count);
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
      if (!response.destroyed && !response.write(text)) await drained(response);
      if (response.destroyed) return;
      text = '';
    }
  } finally {
    endSlot?.();
  }
}

/** Waits until the reader has taken what was written, or is gone. */
function drained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      response.off('drain', end).off('close', end);
      resolve();
    };
    response.on('drain', end).on('close', end);
  });
}
