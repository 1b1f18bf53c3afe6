import { enumOf } from '../values/enum.ts';

/** The result of a visitor submitting a client's password. */
export type VisitorOutcome = 'allowed' | 'unknownKey' | 'wrongPassword';

/** @see VisitorOutcome */
export const VisitorAnswer = enumOf<VisitorOutcome>('VisitorAnswer', "The result of a visitor's attempt with a client's password.", {
  allowed: 'Connections from the address are allowed for two hours, even if the allowlist does not contain it.',
  unknownKey: 'No client with an allowlist password has this key.',
  wrongPassword: 'The password is wrong, or there were too many wrong attempts.',
});
