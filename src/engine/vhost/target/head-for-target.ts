import { formatFields, formatHead, formatTrailer, type RequestHead } from '../../http/head.ts';
import { PlainRequestHead } from '../../http/plain-head.ts';
import { Field } from '../../http/field.ts';
import type { HostFields } from './host-fields.ts';
import { fieldsForTarget, type Origin, tellOrigin } from './request-fields.ts';

/** The lines that are the same in every head for a target, as long as none of these inputs changes. */
interface CachedLines {
  readonly own: HostFields;
  readonly origin: Origin;
  /** The line of Host. */
  readonly before: Buffer;
  /** The fields about the request's origin, and the empty line. */
  readonly after: Buffer;
}

/** Writes the heads that targets get of one visitor's requests. */
export class HeadsForTarget {
  #cached: CachedLines | undefined;

  /** @param path of the request (`RequestPlace.path`) @param own the fields that its host sets */
  write(head: RequestHead, path: string, own: HostFields, origin: Origin): Buffer {
    // All other requests need a check of each field.
    const plain = head instanceof PlainRequestHead && head.target === path && own.fields.length === 0 && !origin.trusted;
    if (!plain) return formatHead(`${head.method} ${path} HTTP/1.${head.minor}`, fieldsForTarget(head, own, origin));
    const cached = this.#reusable(own, origin) ?? (this.#cached = {
      own,
      origin,
      before: formatFields([own.host ?? Field.of('Host', origin.host)]),
      after: formatTrailer(tellOrigin([], origin)),
    });
    return head.passedOn(cached.before, cached.after);
  }

  #reusable(own: HostFields, { host, address, scheme }: Origin): CachedLines | undefined {
    const cached = this.#cached;
    return cached?.own === own && cached.origin.host === host && cached.origin.address === address && cached.origin.scheme === scheme ? cached : undefined;
  }
}
