/** The UTF-8 bytes of a text, as a string with one character per byte. */
export function octets(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
