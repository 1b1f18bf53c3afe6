import { z } from 'zod';

/** What no text of a peer may hold: control characters, halves of surrogate pairs, ends of lines and marks that change the direction of what follows. */
const unfit = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const replacement = '\ufffd';

/** A peer's text as people see it and databases store it: one line, each unfit character replaced. @param most UTF-16 units; the rest is cut off */
export function cleanText(text: string, most: number): string {
  return (text.length > most ? text.slice(0, most).replace(/[\ud800-\udbff]$/, '') : text).replace(unfit, replacement);
}

/** A text by which a peer describes itself or something, for people. Never refused. @see cleanText */
export function label(most: number): z.ZodPipe<z.ZodString, z.ZodTransform<string, string>> {
  return z.string().transform((text) => cleanText(text, most));
}

/**
 * A text with a meaning (a target, a password, a certificate), which must not be changed: what is too long is refused. Only halves of surrogate
 * pairs are replaced, which no encoding can carry. The rules of its field decide on the rest, and refuse NUL.
 */
export function value(most: number): z.ZodPipe<z.ZodString, z.ZodTransform<string, string>> {
  return z.string().max(most).transform((text) => text.replace(/\p{Cs}/gu, replacement));
}
