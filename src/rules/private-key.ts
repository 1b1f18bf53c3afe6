import { createPrivateKey, type KeyObject } from 'node:crypto';

/** Longest private key in bytes: an RSA key with 4096 bits has 2,400. */
const MOST_BYTES = 4096;
/** The forms of a private key, by the label of its PEM block. */
const FORMS = { 'PRIVATE KEY': 'pkcs8', 'RSA PRIVATE KEY': 'pkcs1', 'EC PRIVATE KEY': 'sec1' } as const;
/** The types of keys in PKCS #8, by the object identifiers of RSA, RSA-PSS, elliptic curves and Ed25519, in hex. */
const TYPES: ReadonlySet<string> = new Set(['2a864886f70d010101', '2a864886f70d01010a', '2a8648ce3d0201', '2b6570']);

/** Tags of DER. */
const [INTEGER, IDENTIFIER, SEQUENCE] = [0x02, 0x06, 0x30];

/**
 * Reads the first private key in PEM text. OpenSSL would compute the public part of DSA and DH keys when it reads them, which takes minutes for keys of a few kilobytes, so it
 * gets only keys whose type a certificate may have, and nothing but the bytes that were checked.
 * @returns undefined = there is none, it is encrypted, or its type or size is not supported
 */
export function privateKeyOf(pem: string): KeyObject | undefined {
  const [, label = '', body = ''] = /-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----([^-]*)-----END \1-----/.exec(pem) ?? [];
  const key = Buffer.from(body, 'base64');
  if (!isForm(label) || key.length > MOST_BYTES) return undefined;
  const type = FORMS[label];
  if (type === 'pkcs8' && !TYPES.has(typeOf(key))) return undefined;
  try {
    return createPrivateKey({ key, format: 'der', type });
  } catch {
    return undefined; // not a key
  }
}

function isForm(label: string): label is keyof typeof FORMS {
  return Object.hasOwn(FORMS, label);
}

/** The object identifier of a key's type in PKCS #8: SEQUENCE { INTEGER, SEQUENCE { OBJECT IDENTIFIER, ... }, ... }. "" = it has another form */
function typeOf(key: Buffer): string {
  const outer = element(key, 0, SEQUENCE);
  const version = outer && element(key, outer.start, INTEGER);
  const algorithm = version && element(key, version.end, SEQUENCE);
  const identifier = algorithm && element(key, algorithm.start, IDENTIFIER);
  return identifier ? key.toString('hex', identifier.start, identifier.end) : '';
}

/** The content of an element of DER. @returns undefined = there is no element with this tag */
function element(der: Buffer, at: number, tag: number): { readonly start: number; readonly end: number } | undefined {
  const [found, first] = [der[at], der[at + 1]];
  if (found !== tag || first === undefined) return undefined;
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  const start = at + 2 + lengthBytes;
  if (first === 0x80 || lengthBytes > 4 || start > der.length) return undefined;
  const end = start + (lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes));
  return end <= der.length ? { start, end } : undefined;
}
