/** The server's base path, without a slash at its end. The server writes it into the page. */
export const base = document.querySelector<HTMLMetaElement>('meta[name=adit-base]')?.content ?? '';
