/** A text quoted as one word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w.:/@,+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
