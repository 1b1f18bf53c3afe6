/**
 * Expiry times in the format of the legacy API (contract D17). A text without a time zone is in the server's local zone.
 */

const pattern = new RegExp(
  [
    /^(?<year>\d{4})(?<mark>[-/])(?<month>\d{2})\k<mark>(?<day>\d{2})/,
    /(?:[Tt ](?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2})(?<fraction>\.\d+)?)?(?<zone>[Zz]|[+-]\d{2}:\d{2})?)?$/,
  ].map((part) => part.source).join(''),
);

/**
 * Parses an expiry time: `YYYY-MM-DD`, `YYYY-MM-DD HH:MM[:SS]` with a space or a T between, the same with `/` in the date,
 * or RFC 3339. A date alone means its first second; fractions of a second are dropped.
 * @returns undefined if the text has another format, or is not a real date or time
 */
export function parseExpireTime(text: string): Date | undefined {
  const parts = pattern.exec(text.trim())?.groups;
  if (!parts) return undefined;
  const number = (name: string) => Number(parts[name] ?? 0);
  const [year, month, day] = [number('year'), number('month'), number('day')];
  const [hour, minute, second] = [number('hour'), number('minute'), number('second')];
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;

  const at = new Date(0);
  if (parts['zone']) {
    const offset = minutesOf(parts['zone']);
    // Only RFC 3339 has a zone, and it requires dashes and seconds.
    if (offset === undefined || parts['mark'] !== '-' || parts['second'] === undefined) return undefined;
    at.setUTCFullYear(year, month - 1, day);
    at.setUTCHours(hour, minute - offset, second, 0);
    // The offset may move the time outside the range of years that responses can represent.
    return at.getFullYear() >= 1 && at.getFullYear() <= 9999 ? at : undefined;
  }
  if (parts['fraction']) return undefined;
  at.setFullYear(year, month - 1, day);
  at.setHours(hour, minute, second, 0);
  return at;
}

/** The time in the format of the legacy API: `YYYY-MM-DD HH:MM:SS` in the server's local zone, `""` for none. */
export function expireTimeText(at: Date | null): string {
  if (!at) return '';
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
    + ` ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Minutes east of Greenwich; undefined = not a valid offset. */
function minutesOf(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4, 6))];
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
