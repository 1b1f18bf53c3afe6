/** The drawings of the icons, on a grid of 16 (the logo: 24) units. */
const drawings = {
  close: <path d='m4 4 8 8M12 4l-8 8' />,
  plus: <path d='M8 3v10M3 8h10' />,
  stop: <path d='M5.5 1.8h5l3.7 3.7v5l-3.7 3.7h-5L1.8 10.5v-5zM8 5v3.5M8 10.9v.01' />,
  warn: <path d='M8 2.5 14.5 13.5h-13zM8 6.7v3M8 11.6v.01' />,
  info: (
    <>
      <circle cx='8' cy='8' r='5.8' />
      <path d='M8 7.3v3.5M8 5.2v.01' />
    </>
  ),
  check: <path d='m3.5 8.5 3 3 6-7' />,
  home: <path d='M2.5 7.5 8 2.8l5.5 4.7v5.7h-4V9.5h-3v3.7h-4z' />,
  client: (
    <>
      <rect x='2.5' y='3' width='11' height='7.5' rx='1' />
      <path d='M6 13.2h4M8 10.5v2.7' />
    </>
  ),
  tunnel: (
    <>
      <path d='M2.5 13V8.3a5.5 5.5 0 0 1 11 0V13' />
      <path d='M6 13V8.6a2 2 0 0 1 4 0V13' />
    </>
  ),
  host: (
    <>
      <circle cx='8' cy='8' r='5.5' />
      <path d='M2.5 8h11M8 2.5c2 2 2 9 0 11M8 2.5c-2 2-2 9 0 11' />
    </>
  ),
  diagnosis: <path d='M2 8h2.6l1.6-4 3 8 1.7-4H14' />,
  users: (
    <>
      <circle cx='6' cy='5.5' r='2.3' />
      <path d='M2 13c.4-2.6 1.9-3.8 4-3.8S9.6 10.4 10 13M10.5 3.5a2.2 2.2 0 0 1 0 4M12 9.7c1.2.6 1.9 1.7 2.1 3.3' />
    </>
  ),
  audit: <path d='M3.5 2.5h9v11h-9zM6 5.5h4M6 8h4M6 10.5h2.5' />,
  key: (
    <>
      <circle cx='5.5' cy='10.5' r='2.5' />
      <path d='M7.3 8.7 13 3M11 5l1.8 1.8' />
    </>
  ),
  session: (
    <>
      <rect x='2.5' y='3' width='11' height='10' rx='1' />
      <path d='M2.5 6h11' />
    </>
  ),
  lock: (
    <>
      <rect x='3.5' y='7' width='9' height='6.5' rx='1' />
      <path d='M5.5 7V5a2.5 2.5 0 0 1 5 0v2' />
    </>
  ),
  domain: <path d='M8 2.5v3M4 13.5v-3h8v3M8 5.5v5M2.5 13.5h3M10.5 13.5h3' />,
  gear: (
    <>
      <circle cx='8' cy='8' r='2' />
      <path d='M8 2v2M8 12v2M2 8h2M12 8h2M3.8 3.8l1.4 1.4M10.8 10.8l1.4 1.4M12.2 3.8l-1.4 1.4M5.2 10.8l-1.4 1.4' />
    </>
  ),
  wall: (
    <>
      <rect x='2' y='3' width='12' height='8' rx='1' />
      <path d='M5 13.5h6M4.5 8.5l2-2 1.5 1.5 3-3' />
    </>
  ),
  menu: <path d='M2.5 4.5h11M2.5 8h11M2.5 11.5h11' />,
  search: (
    <>
      <circle cx='7' cy='7' r='4' />
      <path d='m10 10 3.5 3.5' />
    </>
  ),
  language: <path d='M2.5 4h6M5.5 2.5V4M3.5 9.5C5.5 8.5 7 6.5 7.3 4M4 6c.8 1.7 2 2.8 3.7 3.5M8 13.5l2.7-7 2.8 7M9 11.2h3.5' />,
  theme: (
    <>
      <circle cx='8' cy='8' r='5.5' />
      <path d='M8 2.5v11a5.5 5.5 0 0 0 0-11' fill='currentColor' />
    </>
  ),
  more: <path d='M3.5 8v.01M8 8v.01M12.5 8v.01' strokeWidth='2.2' />,
  up: <path d='m4 10 4-4 4 4' />,
  down: <path d='m4 6 4 4 4-4' />,
  right: <path d='m6 4 4 4-4 4' />,
  copy: <path d='M5.5 5.5h7v7h-7zM3.5 10.5v-7h7' />,
  eye: (
    <>
      <path d='M1.8 8S4 3.8 8 3.8 14.2 8 14.2 8 12 12.2 8 12.2 1.8 8 1.8 8z' />
      <circle cx='8' cy='8' r='1.8' />
    </>
  ),
  filter: <path d='M2.5 4h11M4.5 8h7M6.5 12h3' />,
  columns: <path d='M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10' />,
  download: <path d='M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.5h10' />,
  pause: <path d='M5.5 3.5v9M10.5 3.5v9' />,
  play: <path d='m5 3.5 7 4.5-7 4.5z' />,
};

/** The name of an icon. */
export type IconName = keyof typeof drawings;

/** A decorative icon: the text beside it says the same. */
export function Icon({ name, className = '' }: { readonly name: IconName; readonly className?: string }) {
  return (
    <svg className={`icon ${className}`} viewBox='0 0 16 16' aria-hidden='true'>
      {drawings[name]}
    </svg>
  );
}

/** The product's sign. */
export function Logo() {
  return (
    <svg className='icon' viewBox='0 0 24 24' aria-hidden='true'>
      <path d='M3 20v-8.5a9 9 0 0 1 18 0V20' />
      <path d='M8 20v-8a4 4 0 0 1 8 0v8' />
      <path d='M1.5 20h21' />
    </svg>
  );
}
