import { formatFields, formatHead, formatTrailer, type RequestHead } from '../../http/head.ts';
import { PlainRequestHead } from '../../http/plain-head.ts';
import { Field } from '../../http/field.ts';
import type { HostFields } from './host-fields.ts';
import { fieldsForTarget, type Origin, tellOrigin } from './request-fields.ts';

/** What targets are told in every head as long as nothing of this changes. */
interface Told {
  readonly own: HostFields;
  readonly origin: Origin;
  /** The line of Host. */
  readonly before: Buffer;
  /** Where the request comes from, and the empty line. */
  readonly after: Buffer;
}

/** Writes the heads that targets get of one visitor's requests. */
export class HeadsForTarget {
  #told: Told | undefined;

  /** @param path where the request goes (`RequestPlace.path`) @param own what its host sets */
  write(head: RequestHead, path: string, own: HostFields, origin: Origin): Buffer {
    // Everything else takes a look at each field.
    const plain = head instanceof PlainRequestHead && head.target === path && own.fields.length === 0 && !origin.trusted;
    if (!plain) return formatHead(`${head.method} ${path} HTTP/1.${head.minor}`, fieldsForTarget(head, own, origin));
    const told = this.#tells(own, origin) ?? (this.#told = {
      own, origin, before: formatFields([own.host ?? Field.of('Host', origin.host)]), after: formatTrailer(tellOrigin([], origin)),
    });
    return head.passedOn(told.before, told.after);
  }

  #tells(own: HostFields, { host, address, scheme }: Origin): Told | undefined {
    const told = this.#told;
    return told?.own === own && told.origin.host === host && told.origin.address === address && told.origin.scheme === scheme ? told : undefined;
  }
}
