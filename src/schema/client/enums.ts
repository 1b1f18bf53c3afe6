import { enumOf } from '../values/enum.ts';

/** The result of a visitor submitting a client's password. */
export type VisitorOutcome = 'allowed' | 'unknownKey' | 'wrongPassword';

/** @see VisitorOutcome */
export const VisitorAnswer = enumOf<VisitorOutcome>('VisitorAnswer', "What became of a visitor who said a client's password.", {
  allowed: 'Connections from the address are allowed for two hours, even if the allowlist does not contain it.',
  unknownKey: 'No client that accepts visitors by a password has this key.',
  wrongPassword: 'The password is another, or too many wrong ones were said.',
});
