import type { UnreadLedger } from '../../../wire/unread-budget.ts';
import type { Framing } from '../../http/body.ts';
import type { ResponseHead } from '../../http/head.ts';
import type { HeadsForTarget } from '../target/head-for-target.ts';
import type { OwnResponse } from '../response/own-response.ts';
import type { Patience } from '../patience.ts';
import type { TargetPool } from '../target/target-pool.ts';

/** Takes the response of a target on its way to the visitor, and gives it the form of the visitor's protocol. */
export interface ResponseSide {
  /** 1xx; 101 only when the request asked for it. False = wait until the visitor takes bytes again. */
  interim(head: ResponseHead): boolean;
  /** @param requestOver the whole request was sent to the target */
  head(head: ResponseHead, body: Framing, requestOver: boolean): void;
  /**
   * What the target sent after the head, as it came: chunks with their sizes. After 101, whatever it sends. False as for `interim`.
   * @param last the response ends with it
   */
  body(piece: Buffer, last: boolean): boolean;
  /** All that has come was said: a head that waited for a piece of its body waits no longer. False as for `interim`. */
  flush(): boolean;
  /** After 101: the target ended its direction. */
  end(): void;
}

/** The visitor's side of a request: an HTTP/1.x connection, or a stream of an HTTP/2 session. */
export interface VisitorSide extends ResponseSide {
  readonly scheme: 'http' | 'https';
  /** The other end of the connection; behind a proxy not the visitor. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Whether it may ask for a host; undefined = for any. */
  readonly covers: ((host: string) => boolean) | undefined;
  /** Connections to targets that the visitor's earlier requests left open. */
  readonly pool: TargetPool;
  /** What the streams from its targets hold for it counts there; undefined = for the agent's session alone. */
  readonly unread: UnreadLedger | undefined;
  readonly patience: Patience;
  /** Writes the heads of the visitor's requests. */
  readonly heads: HeadsForTarget;
  /** All of the request has come. */
  readonly requestOver: boolean;
  pauseVisitor(): void;
  resumeVisitor(): void;
  /** The target agreed to change the protocol: from here on bytes pass as they are. */
  upgraded(): void;
  /** Sends a response of this server. @param last nothing after this request is to be trusted, or can be answered */
  answer(response: OwnResponse, last: boolean): void;
  /** The response is complete. @param whole so was the request: otherwise nobody reads the rest of it */
  answered(whole: boolean): void;
  /** Ends at once. In the middle of a response the visitor sees a broken connection, not a short answer. */
  cutOff(): void;
}
