import { isMainThread } from 'node:worker_threads';

// Loaded into a server under test (see processes.ts): it hashes passwords in a hundredth of the time that a real hash takes.
if (isMainThread) {
  const { default: argon2 } = await import('@node-rs/argon2');
  const { hash } = argon2;
  argon2.hash = (password) => hash(password, { memoryCost: 8, timeCost: 1 });
}
