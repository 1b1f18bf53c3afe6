import { useEffect } from 'react';
import { useRouter } from 'wouter';
import { base } from '../base.ts';
import { loadPage } from '../routes.tsx';

/** Loads the page of a link when the pointer or the focus comes to it: most links are used a moment later. */
export function usePreload(): void {
  const { parser } = useRouter();
  useEffect(() => {
    const load = ({ target }: Event): void => {
      const link = target instanceof Element ? target.closest('a') : null;
      if (link?.origin === location.origin && link.pathname.startsWith(`${base}/`)) loadPage(link.pathname.slice(base.length), parser);
    };
    document.addEventListener('pointerover', load);
    document.addEventListener('focusin', load);
    return () => {
      document.removeEventListener('pointerover', load);
      document.removeEventListener('focusin', load);
    };
  }, [parser]);
}
