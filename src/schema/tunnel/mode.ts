import { keyedModes } from '../../rules/tunnel-mode.ts';
import { newVerifyKey } from '../../rules/vkey.ts';
import type { Tunnel } from '../../store/generated/sqlite/client.ts';
import type { Context } from '../context.ts';
import { AditError, invalidInput } from '../errors.ts';

/** @throws {AditError} UNSUPPORTED_MODE: a tunnel that can be stored but does nothing would only look like one */
export function checkMode({ engine }: Context, mode: string): void {
  if (!engine.modes.includes(mode)) throw new AditError('UNSUPPORTED_MODE');
}

/** What a tunnel is found by, if visitors have to prove its password. */
type Keyed = Pick<Tunnel, 'mode' | 'password'>;

/**
 * The password of a tunnel as it is to be; a p2p tunnel without one gets one.
 * @throws {AditError} INVALID_INPUT: without a password no visitor could be let in (contract 4.6)
 */
export function keyOf({ mode, password }: Keyed): string {
  if (password !== '' || !keyedModes.includes(mode)) return password;
  if (mode === 'p2p') return newVerifyKey();
  throw invalidInput('password', `a ${mode} tunnel needs one, for visitors to prove`);
}

