import * as z from 'zod';

/** Characters that no text from a peer may contain: control characters, unpaired surrogates, line separators, and marks that change the text direction. */
const unfit = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const replacement = '\ufffd';

/** A peer's text for display and storage: one line, with invalid characters replaced. @param most maximum UTF-16 units; the rest is cut off */
export function cleanText(text: string, most: number): string {
  return (text.length > most ? text.slice(0, most).replace(/[\ud800-\udbff]$/, '') : text).replace(unfit, replacement);
}

/** A text with which a peer describes itself or something else, for people. Never refused. @see cleanText */
export function label(most: number): z.ZodPipe<z.ZodString, z.ZodTransform<string, string>> {
  return z.string().transform((text) => cleanText(text, most));
}

/**
 * A text that the program interprets (a target, a password, a certificate), which must stay unchanged: texts that are too long are refused. Only unpaired
 * surrogates are replaced, since no encoding can represent them. The rules of its field check the rest, and refuse NUL.
 */
export function value(most: number): z.ZodString {
  return z.string().max(most).overwrite((text) => text.toWellFormed());
}

/**
 * A list of such texts. It is refused as a whole: a problem for each of thousands of elements would cost 20 ms.
 * @param count the most elements
 * @param most UTF-16 units of each
 * @see value
 */
export function values(count: number, most: number): z.ZodPipe<z.ZodCustom<string[], string[]>, z.ZodTransform<string[], string[]>> {
  const isText = (text: unknown): boolean => typeof text === 'string' && text.length <= most;
  return z.custom<string[]>(
    (list) => Array.isArray(list) && list.length <= count && list.every(isText),
    `must be a list of at most ${count} texts of at most ${most} characters`,
  )
    .transform((list) => list.map((text) => text.toWellFormed()));
}
