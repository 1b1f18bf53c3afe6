import type { Joinable } from '../wire/stream.ts';
import type { OpenKind, OpenRequest } from '../wire/open.ts';
import { answerDial } from './dial.ts';
import { answerDirect } from './direct.ts';
import { answerFile } from './file.ts';
import { answerProbe } from './probe.ts';
import type { Answered, StreamContext, StreamHandler } from './stream-handler.ts';
import { answerTcp } from './tcp.ts';
import { answerUdp } from './udp.ts';
import { answerUdpAny } from './udp-any.ts';

/** The handler for each kind of request. */
const handlers: { readonly [K in OpenKind]: StreamHandler<K> } = {
  tcp: answerTcp,
  probe: answerProbe,
  udp: answerUdp,
  udpAny: answerUdpAny,
  dial: answerDial,
  direct: answerDirect,
  file: answerFile,
};

/** Answers a request. @param answered called with the error if that fails; the caller then resets the stream */
export function answerRequest<K extends OpenKind>(request: OpenRequest<K>, stream: Joinable, context: StreamContext, answered: Answered): void {
  handlers[request.kind](request, stream, context, answered);
}
