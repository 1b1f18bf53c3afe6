import { setsSessionCookie, withoutSessionCookies } from '../../rules/session-cookie.ts';
import { Field } from './field.ts';

/** A request's field for servers other than the panel: Cookie without this server's sessions. undefined = nothing is left of it. */
export function withoutSession(field: Field): Field | undefined {
  if (field.lower !== 'cookie') return field;
  const kept = withoutSessionCookies(field.value);
  if (kept === field.value) return field;
  return kept === '' ? undefined : Field.of(field.name, kept);
}

/** Whether a field of a response would set a session cookie of this server in the visitor's browser, for the panel of the same domain. */
export function plantsSession({ lower, value }: Field): boolean {
  return lower === 'set-cookie' && setsSessionCookie(value);
}
