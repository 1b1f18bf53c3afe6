import { formatFields, formatHead, formatTrailer, type RequestHead } from '../../http/head.ts';
import { PlainRequestHead } from '../../http/plain-head.ts';
import { Field } from '../../http/field.ts';
import type { HostFields } from './host-fields.ts';
import { fieldsForTarget, type Origin, tellOrigin } from './request-fields.ts';

/** The lines that are the same in every head for a target, as long as the host and the Host of the requests do not change. */
interface CachedLines {
  readonly own: HostFields;
  /** The request's Host, as it was sent. */
  readonly host: string;
  /** The line of Host. */
  readonly before: Buffer;
  /** The fields about the request's origin, and the empty line. */
  readonly after: Buffer;
}

/** Writes the heads that targets get of one visitor's requests, which all come from the same address by the same scheme. */
export class HeadsForTarget {
  #cached: CachedLines | undefined;

  /** @param path of the request (`RequestPlace.path`) @param own the fields that its host sets */
  write(head: RequestHead, path: string, own: HostFields, origin: Origin): Buffer {
    // All other requests need a check of each field.
    const plain = head instanceof PlainRequestHead && head.target === path && own.fields.length === 0 && !origin.trusted;
    if (!plain) return formatHead(`${head.method} ${path} HTTP/1.${head.minor}`, fieldsForTarget(head, own, origin));
    const { host } = origin;
    if (this.#cached?.own !== own || this.#cached.host !== host) {
      this.#cached = { own, host, before: formatFields([own.host ?? Field.of('Host', host)]), after: formatTrailer(tellOrigin([], origin)) };
    }
    return head.passedOn(this.#cached.before, this.#cached.after);
  }
}
