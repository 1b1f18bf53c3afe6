import type { Messages } from './en/index.ts';

/** How values are written in a language. Every time has its zone. */
export interface Formats {
  /** 412 GiB, 4.4 MiB, 312 B */
  readonly bytes: (value: number) => string;
  /** Of a limit, in one unit: 920 of 1,000 GiB */
  readonly share: (used: number, limit: number, suffix?: string) => string;
  /** 9.7 MiB/s */
  readonly rate: (bytesPerSecond: number) => string;
  readonly number: (value: number) => string;
  /** 22 Nov 2026, 11:41:32 UTC+1 */
  readonly moment: (value: string | Date) => string;
  /** 22 Nov 2026 */
  readonly day: (value: string | Date) => string;
  /** 11:41 UTC+1 today, otherwise as {@link moment} without seconds */
  readonly short: (value: string | Date) => string;
  /** 11:41:32 */
  readonly clock: (value: string | Date) => string;
  /** 12 min, 2 h 1 min, 8 d 2 h: at most two units */
  readonly duration: (ms: number) => string;
  /** The viewer's time zone: UTC+1 */
  readonly zone: string;
}

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** The formats of a language. @param locale a BCP 47 tag */
export function createFormats(locale: string, units: Messages['units'], of: Messages['words']['of']): Formats {
  const plain = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const clock = new Intl.DateTimeFormat(locale, { ...time, second: '2-digit' });
  const hours = new Intl.DateTimeFormat(locale, time);
  const isChinese = locale.startsWith('zh');
  const day = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short', day: 'numeric' });
  const dayOf = (value: Date): string => isChinese ? isoDay(value) : day.format(value);
  const joined = (value: Date, at: string): string => `${dayOf(value)}${isChinese ? ' ' : ', '}${at} ${zoneOf(value)}`;

  /** The unit in which a value has at most three digits before the point. */
  function powerOf(value: number): number {
    const power = value < 1024 ? 0 : Math.min(Math.floor(Math.log2(value) / 10), byteUnits.length - 1);
    // 1023.9 KiB would be written as 1,024 KiB.
    return power > 0 && power < byteUnits.length - 1 && Math.round(value / 1024 ** power) >= 1024 ? power + 1 : power;
  }
  function scaled(value: number, power: number): string {
    const number = value / 1024 ** power;
    return (power === 0 || number >= 100 ? whole : plain).format(number);
  }
  const bytes = (value: number): string => `${scaled(value, powerOf(value))} ${byteUnits[powerOf(value)]}`;

  return {
    bytes,
    share(used, limit, suffix = '') {
      const power = powerOf(limit);
      // A small part keeps its own unit: it is not nothing.
      const isSmall = used > 0 && used / 1024 ** power < 0.1;
      return of(isSmall ? bytes(used) + suffix : scaled(used, power), `${scaled(limit, power)} ${byteUnits[power]}${suffix}`);
    },
    rate: (value) => `${bytes(value)}/s`,
    number: (value) => whole.format(value),
    moment: (value) => joined(new Date(value), clock.format(new Date(value))),
    day: (value) => dayOf(new Date(value)),
    short(value) {
      const date = new Date(value);
      return date.toDateString() === new Date().toDateString() ? `${hours.format(date)} ${zoneOf(date)}` : joined(date, hours.format(date));
    },
    clock: (value) => clock.format(new Date(value)),
    duration(ms) {
      const seconds = Math.max(0, Math.floor(ms / 1000));
      if (seconds < 5) return units.now;
      const parts: ReadonlyArray<readonly [number, string]> = [[Math.floor(seconds / 86_400), units.days], [Math.floor(seconds / 3600) % 24, units.hours], [
        Math.floor(seconds / 60) % 60,
        units.minutes,
      ], [seconds % 60, units.seconds]];
      const first = parts.findIndex(([count]) => count > 0);
      return parts.slice(first, first + 2).filter(([count], at) => count > 0 && !(first + at === 3 && first < 3)).map(([count, unit]) => `${count} ${unit}`)
        .join(' ');
    },
    zone: zoneOf(new Date()),
  };
}

/** The offset of the viewer's zone at that time: UTC+1, UTC+5:30 */
function zoneOf(value: Date): string {
  const minutes = -value.getTimezoneOffset();
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return minutes === 0 ? 'UTC' : `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
}

function isoDay(value: Date): string {
  return [value.getFullYear(), value.getMonth() + 1, value.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}
