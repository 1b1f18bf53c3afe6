import type { z } from 'zod';
import { MessageSocket } from '../../wire/message-socket.ts';
import { encodeNodeRequest, type NodeRequest } from '../../wire/node-messages.ts';
import type { NodeLink } from './node-link.ts';

/** How long another node may take to answer, in ms. */
const ANSWER_MS = 1000;
/** The maximum size of an answer in bytes. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Asks another node. @returns undefined = the node did not answer in time, or with something else */
export function ask<T>(link: Pick<NodeLink, 'open'>, request: NodeRequest, answer: z.ZodType<T>, ms = ANSWER_MS): Promise<T | undefined> {
  const stream = link.open(encodeNodeRequest(request));
  if (!stream) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve(undefined);
      stream.reset();
    }, ms);
    stream.join(
      new MessageSocket('', (message) => {
        clearTimeout(timer);
        resolve(message && answer.safeParse(json(message)).data);
      }, MOST_BYTES),
    );
  });
}

function json(message: Buffer): unknown {
  try {
    return JSON.parse(message.toString());
  } catch {
    return undefined; // it was cut off
  }
}
