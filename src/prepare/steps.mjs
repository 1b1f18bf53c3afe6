import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { bundlingAgent } from './agent-file.mjs';
import { install, missingPackages } from './install.mjs';
import { leanerPackages } from './leaner-packages.mjs';
import { withLock } from './lock.mjs';
import { queryCompiler } from './query-compiler.mjs';
import { root, run, say } from './run.mjs';
import { runStep, staleReason } from './stamp.mjs';

const cache = path.join(root, '.cache');
const where = { root, stamps: path.join(cache, 'stamps') };

/** What decides on the generated GraphQL code, other than the operations. */
const generator = ['src/schema/schema.graphql', 'codegen.ts', 'src/prepare/graphql-code.mjs'];

/** The stages after installing packages. Each uses packages and what earlier stages have made; the steps of a stage run at the same time. */
const stages = [
  [
    step(
      'prisma',
      'generating the database clients',
      () => run('Generating the database clients', 'node src/prepare/clients.mjs'),
      () => [...files('prisma', /^[^/\\]+\.prisma$/), ...inRoot('prisma/data-model.mjs', 'src/prepare/clients.mjs')],
      'src/store/generated/sqlite/client.ts',
      'src/store/generated/postgresql/client.ts',
      'src/schema/generated/pothos.ts',
    ),
    step(
      'codegen',
      'generating the GraphQL operations',
      () => run('Generating the GraphQL operations', 'node src/prepare/graphql-code.mjs src/legacy/generated/'),
      () => [...files('src/legacy/operations', /\.graphql$/), ...inRoot(...generator)],
      'src/legacy/generated/graphql.ts',
    ),
    step(
      'panel-codegen',
      "generating the panel's GraphQL client",
      () => run("Generating the panel's GraphQL client", 'node src/prepare/graphql-code.mjs src/panel/generated/'),
      () => [...files('src/panel', /\.tsx?$/, isOwn), ...inRoot(...generator)],
      'src/panel/generated/graphql.ts',
    ),
  ],
  [
    step(
      'build',
      'compiling',
      compile,
      () => [
        ...files('src', /\.ts$/, isProgram),
        ...inRoot(
          'tsconfig.json',
          'package.json',
          'src/prepare/steps.mjs',
          'src/prepare/agent-file.mjs',
          'src/prepare/query-compiler.mjs',
          'src/prepare/leaner-packages.mjs',
        ),
      ],
      'dist/main.js',
    ),
  ],
  [
    step(
      'panel',
      'building the panel',
      () => run('Building the panel', 'node src/prepare/panel.mjs', { env: { NODE_ENV: 'production' } }),
      () => [...files('src/panel', /\.(tsx?|css|html|json)$/), ...inRoot('src/prepare/panel.mjs')],
      'dist/panel/index.html',
    ),
  ],
];

/**
 * Installs, generates and compiles everything that is missing or outdated, and reports it. If there is nothing to do, takes a few ms.
 * @param {boolean} forDevelopment whether to install what tests, lint and benchmarks need, too
 */
export async function prepare(forDevelopment) {
  if (missingPackages(root, forDevelopment) === undefined && stages.flat().every(({ reason }) => reason() === undefined)) return;
  await withLock(path.join(cache, 'lock'), async () => {
    const missing = missingPackages(root, forDevelopment);
    if (missing !== undefined) {
      say(`installing packages (${missing.why}) ...`);
      await install(missing);
    }
    for (const stage of stages) {
      const made = await Promise.allSettled(stage.map(async ({ doing, reason, run: make }) => {
        const why = reason();
        if (why === undefined) return;
        say(`${doing} (${why}) ...`);
        await make();
      }));
      const failed = made.find(({ status }) => status === 'rejected');
      if (failed !== undefined) throw failed.reason; // after the others have ended, since the lock is released then
    }
  });
}

/** A step that generates files. Also runs when packages change. */
function step(name, doing, make, inputs, ...outputs) {
  const made = { name, run: make, inputs: () => [...inputs(), ...inRoot('package-lock.json')], outputs: () => inRoot(...outputs) };
  return { doing, reason: () => staleReason(made, where), run: () => runStep(made, where) };
}

/** Packages that are not bundled: they are specific to a platform, read their own files, or are only loaded when needed. */
const native = ['@photostructure/sqlite', '@node-rs/argon2', 'udx-native', 'pg-native'];
const withFiles = ['serve-index', 'acme-client', 'selfsigned', 'emitter'];

/** The esbuild options: bundles the program into a few files. */
export const bundling = (outdir) => ({
  absWorkingDir: root,
  entryPoints: ['src/main.ts', 'src/store/sqlite/worker.ts'],
  outbase: 'src',
  outdir,
  chunkNames: 'part-[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: [...native, ...withFiles],
  plugins: [queryCompiler, ...leanerPackages],
  logLevel: 'error',
  // Minified, since Node keeps the source in memory. Names and lines stay for stack traces.
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 160,
  legalComments: 'external',
  banner: { js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);" }, // for CommonJS packages
});

/**
 * Bundles the program's and its packages' 1,300 files into a few files. The program then starts in less than half the time and reads only the
 * files that a command needs. Also makes the agent's own file, which the server serves. The old dist stays until the new one is complete. Types are checked by
 * the lint.
 */
async function compile() {
  const [dist, fresh] = inRoot('dist', '.cache/dist');
  rmSync(fresh, { recursive: true, force: true });
  const { build, stop } = await import('esbuild');
  await Promise.all([build(bundling(fresh)), build(bundlingAgent(path.join(fresh, 'agent/adit-agent.mjs'), 'esm'))]);
  await stop();
  const [panel, kept] = [dist, fresh].map((directory) => path.join(directory, 'panel'));
  if (existsSync(panel)) renameSync(panel, kept);
  rmSync(dist, { recursive: true, force: true });
  renameSync(fresh, dist);
}

const inRoot = (...names) => names.map((name) => path.join(root, name));

/** The files below a directory whose relative path matches, except those that `isWanted` rejects. */
function files(directory, pattern, isWanted = () => true) {
  return readdirSync(path.join(root, directory), { recursive: true })
    .filter((name) => pattern.test(name) && isWanted(name.replaceAll(path.sep, '/')))
    .map((name) => path.join(root, directory, name));
}

/** Whether a file of the panel was not generated. */
function isOwn(name) {
  return !name.startsWith('generated/');
}

/** Whether a file of src is part of the program, not of the panel. */
function isProgram(name) {
  return !name.startsWith('panel/');
}
