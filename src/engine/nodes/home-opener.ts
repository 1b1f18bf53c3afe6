import { encodeNodeRequest, type NodeRequest } from '../../wire/node-messages.ts';
import type { Joinable, Opener, OpenerVisitor, Stream } from '../../wire/stream.ts';
import { encodeVisitorRequest } from '../../wire/visitor-request.ts';
import type { NodeLink } from './node-link.ts';

/** What it needs of the link to the home. */
type VisitorLink = Pick<NodeLink, 'openFor' | 'shortRequests'>;

/** Carries the connections of a client's visitors to the client's home, which admits, counts and limits them. */
export class HomeOpener implements Opener {
  readonly elsewhere = true;
  readonly #link: VisitorLink;
  readonly #clientId: number;
  readonly #crypt: boolean;

  /** @param crypt the client's bytes must not be in the clear */
  constructor(link: VisitorLink, clientId: number, crypt: boolean) {
    this.#link = link;
    this.#clientId = clientId;
    this.#crypt = crypt;
  }

  open(payload: Buffer, dataFollows = false, credit?: number, visitor?: OpenerVisitor): Joinable | undefined {
    if (!visitor) return undefined;
    const encode = this.#link.shortRequests ? encodeVisitorRequest : encodeNodeRequest;
    const request = encode(visitorRequest(this.#clientId, visitor, dataFollows, credit), payload);
    const stream = this.#link.openFor(this.#clientId, request, dataFollows, credit);
    if (stream) ofClient(stream, this.#clientId, this.#crypt);
    return stream;
  }
}

/** Says whose visitor a stream between nodes carries. @param crypt as above */
export function ofClient(stream: Stream, clientId: number, crypt: boolean): void {
  stream.owner = clientId;
  stream.mayMove = !crypt;
}

/** The request to a client's home to carry a visitor's connection. */
export function visitorRequest(clientId: number, visitor: OpenerVisitor, dataFollows: boolean, credit: number | undefined): NodeRequest<'visitor'> {
  const { of, id, socket: { remoteAddress: address, remotePort: port, local }, passedOn = false } = visitor;
  return { kind: 'visitor', clientId, of, id, address, port, local, dataFollows, passedOn, credit };
}
