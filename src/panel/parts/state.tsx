import type { ReactNode } from 'react';

/** How serious a state is. Each has a shape of its own, so that it can be told without colours. */
export type Tone = 'ok' | 'away' | 'warn' | 'danger' | 'off';

const shapes: Record<Tone, { readonly className: string; readonly path: string }> = {
  ok: { className: 'ok', path: 'M5 1a4 4 0 1 0 0 8 4 4 0 0 0 0-8' },
  away: { className: 'idle', path: 'M5 1a4 4 0 1 0 0 8 4 4 0 0 0 0-8m0 2a2 2 0 1 1 0 4 2 2 0 0 1 0-4' },
  warn: { className: 'warn', path: 'M5 .8 9.7 9.2H.3z' },
  danger: { className: 'danger', path: 'M5 .2 9.8 5 5 9.8.2 5z' },
  off: { className: 'idle', path: 'M1 4h8v2H1z' },
};

/** The mark of a state. */
export function Mark({ tone }: { readonly tone: Tone }) {
  const { className, path } = shapes[tone];
  return (
    <svg className={`mark ${className}`} viewBox='0 0 10 10' aria-hidden='true'>
      <path d={path} />
    </svg>
  );
}

/** A state in a list: shape and word. */
export function State({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className='state'>
      <Mark tone={tone} />
      <span>{children}</span>
    </span>
  );
}

/** A state in a headline. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  const colour = { ok: 'badge-ok', away: '', warn: 'badge-warn', danger: 'badge-danger', off: '' }[tone];
  return (
    <span className={`badge ${colour}`}>
      <Mark tone={tone} />
      {children}
    </span>
  );
}

/**
 * How much of a limit is used, as a bar; the text beside it says the same.
 * @param isQuota a full quota is amber: nobody suffers yet
 * @param isPlain a comparison, not a limit: always the same colour
 */
export function Bar({ used, limit, isQuota = false, isPlain = false }: {
  readonly used: number;
  readonly limit: number;
  readonly isQuota?: boolean;
  readonly isPlain?: boolean;
}) {
  const share = Math.min(100, Math.round((used / limit) * 100));
  const colour = isPlain || share < 80 ? '' : share >= 100 && !isQuota ? 'bar-danger' : 'bar-warn';
  return (
    <svg className={`bar ${colour}`} aria-hidden='true'>
      <rect width={`${share}%`} height='100%' rx='3' />
    </svg>
  );
}
