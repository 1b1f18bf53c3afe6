import { useEffect, useState } from 'react';

const longMs = 60_000;

/** Says that something is being waited for; after a minute, also what may be wrong. */
export function Waiting({ text, long }: { readonly text: string; readonly long?: string }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), longMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role='status'>
      <span className='waiting'>
        {text}
        <span className='dots' aria-hidden='true'>
          <i />
          <i />
          <i />
        </span>
      </span>
      {isLong && long !== undefined && <p className='muted'>{long}</p>}
    </div>
  );
}
