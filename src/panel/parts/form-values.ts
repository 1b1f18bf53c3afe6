/** A text field in an input; blank = null, which means none. */
export function textOrNull(text: string): string | null {
  return text.trim() === '' ? null : text;
}

/** A number field in an input; blank = null, which means unlimited. */
export function numberOrNull(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}

/** The lines of a text field, without blank ones. */
export function linesOf(text: string): string[] {
  return text.split('\n').map((line) => line.trim()).filter((line) => line !== '');
}

/** Whether a number field can be sent: blank, or a whole number of at least 1. */
export function isCount(text: string): boolean {
  return text.trim() === '' || (/^\d+$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= Number.MAX_SAFE_INTEGER);
}

/** Whether a field of a port can be sent: blank, or a port. */
export function isPort(text: string): boolean {
  return isCount(text) && Number(text) <= 65_535;
}

/** The value of a `datetime-local` field for a point in time, with seconds only if it has some; blank = none. */
export function localTime(value: string | null): string {
  if (value === null) return '';
  const date = new Date(value);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().replace(/(?::00)?(?:\.000)?Z$/, '');
}

/** The point in time of a `datetime-local` field; blank = null. */
export function timeOrNull(text: string): string | null {
  return text === '' ? null : new Date(text).toISOString();
}

/** The value of a check box. */
export const checked = (value: boolean): string => value ? 'yes' : '';

/** Whether a check box is checked. */
export const isChecked = (value: string): boolean => value === 'yes';
