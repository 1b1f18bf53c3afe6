/** A host as visitors know it: its domain, with the path if it serves only a part. */
export function hostName({ host, location }: { readonly host: string; readonly location: string }): string {
  return location === '/' ? host : host + location;
}
