import path from 'node:path';
import { build, buildInputs, buildOutputs } from './build.mjs';
import { codegenInputs, codegenOutputs, generateOperations } from './codegen.mjs';
import { install, installReason } from './install.mjs';
import { withLock } from './lock.mjs';
import { generatePrisma, prismaInputs, prismaOutputs } from './prisma.mjs';
import { root, say } from './run.mjs';
import { runStep, staleReason } from './stamp.mjs';

const where = { root, stamps: path.join(root, '.cache', 'stamps') };

/** What is made, in this order: the later ones are made from the earlier ones. */
const steps = [
  { name: 'prisma', doing: 'generating the database clients', inputs: () => prismaInputs, outputs: () => prismaOutputs, run: generatePrisma },
  { name: 'codegen', doing: 'generating the GraphQL operations', inputs: codegenInputs, outputs: () => codegenOutputs, run: generateOperations },
  { name: 'build', doing: 'compiling', inputs: buildInputs, outputs: () => buildOutputs, run: build },
];

/**
 * Makes a checkout ready to run: installs, generates and compiles what is missing or stale, and says so. When nothing is, it
 * costs a few milliseconds and says nothing.
 */
export async function prepare() {
  if (isReady()) return;
  await withLock(path.join(root, '.cache', 'lock'), async () => {
    await perform('installing packages', installReason(root), install);
    for (const step of steps) await perform(step.doing, staleReason(step, where), () => runStep(step, where));
  });
}

function isReady() {
  return installReason(root) === undefined && steps.every((step) => staleReason(step, where) === undefined);
}

async function perform(doing, reason, work) {
  if (reason === undefined) return;
  say(`${doing} (${reason}) ...`);
  await work();
}
