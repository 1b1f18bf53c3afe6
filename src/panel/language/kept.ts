type Name = 'language' | 'theme' | 'density' | 'columns.clients' | 'columns.tunnels' | 'columns.hosts' | 'columns.users' | 'welcome' | 'shortcuts';

/** A choice that the browser kept; undefined = none, or the browser keeps nothing. */
export function kept(name: Name): string | undefined {
  try {
    return localStorage.getItem(`adit.${name}`) ?? undefined;
  } catch {
    return undefined; // storage is turned off
  }
}

/** Keeps a choice in the browser. */
export function keep(name: Name, value: string): void {
  try {
    localStorage.setItem(`adit.${name}`, value);
  } catch {
    // Storage is turned off: the choice holds until the page is closed.
  }
}
