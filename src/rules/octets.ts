/** A text as it goes over the wire in UTF-8: one character for each byte. */
export function octets(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
