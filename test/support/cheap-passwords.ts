import argon2 from '@node-rs/argon2';
import { beforeAll, jest } from '@jest/globals';
import { verifyPassword } from '../../src/schema/access/password.ts';

/** Has the suite hash passwords in a hundredth of the time that a real hash takes: no test of what passwords open needs them to be hard to guess. */
export function cheapPasswords(): void {
  const { hash, verify } = argon2;
  beforeAll(async () => {
    // The hash that stands for nobody's password outlives the suite: it has to be a real one.
    await verifyPassword('', undefined);
    jest.spyOn(argon2, 'hash').mockImplementation((password) => hash(password, { memoryCost: 8, timeCost: 1 }));
    // That hash is the only one that isn't cheap, and nothing verifies against it.
    jest.spyOn(argon2, 'verify').mockImplementation((hashed, password) => String(hashed).includes('$m=8,') ? verify(hashed, password) : Promise.resolve(false));
  });
}
