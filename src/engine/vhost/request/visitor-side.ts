import type { UnreadLedger } from '../../../wire/unread-budget.ts';
import type { Framing } from '../../http/body.ts';
import type { ResponseHead } from '../../http/head.ts';
import type { HeadsForTarget } from '../target/head-for-target.ts';
import type { OwnResponse } from '../response/own-response.ts';
import type { WaitState } from '../wait-state.ts';
import type { TargetPool } from '../target/target-pool.ts';

/** Takes the response of a target on its way to the visitor, and gives it the form of the visitor's protocol. */
interface ResponseSide {
  /** 1xx; 101 only for an upgrade request. False = wait until the visitor takes bytes again. */
  interim(head: ResponseHead): boolean;
  /** @param requestOver the whole request was sent to the target */
  head(head: ResponseHead, body: Framing, requestOver: boolean): void;
  /**
   * Sends what the target sent after the head, unchanged: chunks with their sizes; after 101, everything. Returns false as `interim` does.
   * @param last the response ends with this piece
   */
  body(piece: Buffer, last: boolean): boolean;
  /** Everything received was passed on: a head that waits for a piece of its body is sent now. False as for `interim`. */
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
  /** Counts what the streams from its targets hold for it; undefined = only the agent's session counts it. */
  readonly unread: UnreadLedger | undefined;
  readonly waitState: WaitState;
  /** Writes the heads of the visitor's requests. */
  readonly heads: HeadsForTarget;
  /** The whole request has arrived. */
  readonly requestOver: boolean;
  pauseVisitor(): void;
  resumeVisitor(): void;
  /** The target agreed to change the protocol: from here on bytes pass as they are. */
  upgraded(): void;
  /** Sends a response of this server. @param last closes the connection: what follows this request can't be trusted or answered */
  answer(response: OwnResponse, last: boolean): void;
  /** The response is complete. @param whole the request was also complete; otherwise the rest of it is not read */
  answered(whole: boolean): void;
  /** Ends immediately. In the middle of a response the visitor sees a broken connection, not a short response. */
  cutOff(): void;
}
