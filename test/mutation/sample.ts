import type { Mutant } from './operators.ts';

/** The parts of the program that mutants are spread over, each with as many as the others as far as it has them. */
export const modules = [
  'src/rules/',
  'src/schema/',
  'src/legacy/',
  'src/store/',
  'src/engine/limits/',
  'src/engine/http/',
  'src/engine/vhost/',
  'src/engine/bridge/',
  'src/engine/tunnels/',
  'src/wire/',
  'src/agent/',
  'src/http/',
  'src/settings/',
  'src/stream-handlers/',
  'src/engine/nodes/',
  'src/engine/acme/',
  'src/engine/',
  'src/migration/',
  'src/processes/',
] as const;

/** The part that a file belongs to: the first that has it. */
export function moduleOf(file: string): (typeof modules)[number] | undefined {
  return modules.find((module) => file.startsWith(module));
}

/** Chooses mutants at random, the same ones for the same seed and sources. */
export function sample(mutants: readonly Mutant[], { count, seed }: { readonly count: number; readonly seed: number }): Mutant[] {
  const random = randomFrom(seed);
  const shuffled = modules.map((module) => shuffle(mutants.filter(({ file }) => moduleOf(file) === module), random));
  const chosen: Mutant[] = [];
  for (let round = 0; chosen.length < Math.min(count, mutants.length); round++) {
    for (const some of shuffled) {
      const mutant = some[round];
      if (mutant && chosen.length < count) chosen.push(mutant);
    }
  }
  return chosen;
}

function shuffle(mutants: readonly Mutant[], random: () => number): Mutant[] {
  return mutants.map((mutant) => ({ mutant, at: random() })).toSorted((a, b) => a.at - b.at).map(({ mutant }) => mutant);
}

/** Numbers from 0 up to 1: a linear congruential generator modulo 2^31, of which the upper bits count. */
function randomFrom(seed: number): () => number {
  let state = seed % 2_147_483_647 + 1;
  return () => (state = state * 48_271 % 2_147_483_647) / 2_147_483_647;
}
