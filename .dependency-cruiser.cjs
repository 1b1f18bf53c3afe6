/**
 * Which rooms of src may import which (docs/architecture.md). A room that a rule names may import itself, the rooms listed,
 * and packages; `npm run lint` fails on anything else.
 */

/** Packages that only types are taken from: there is nothing of them to run. */
const typesOnly = ['@graphql-typed-document-node/core', '@prisma/driver-adapter-utils'];

/** Packages among the dependencies that only src/prepare uses: a start builds the program, but the program does not need them. */
const buildTools = ['esbuild', 'vite', '@graphql-codegen/', '@prisma/internals', '@prisma/client-generator-ts'];

/** @param {string[]} targets paths below src */
const room = (name, comment, targets) => ({
  name: `${name}-imports-one-way`,
  severity: 'error',
  comment,
  from: { path: `^src/${name}/` },
  to: { path: '^(src|test|bench)/', pathNot: [`${name}/`, ...targets].map((target) => `^src/${target}`) },
});

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Two files that need each other are one file, or hide a third.',
      from: { pathNot: '/generated/' },
      to: { circular: true },
    },
    {
      name: 'no-missing',
      severity: 'error',
      comment: 'An import that leads nowhere.',
      from: {},
      to: { couldNotResolve: true, pathNot: typesOnly },
    },
    {
      name: 'only-dependencies',
      severity: 'error',
      comment: 'What runs in production is a dependency in package.json, not a dev dependency.',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], pathNot: typesOnly },
    },
    {
      name: 'no-build-tools',
      severity: 'error',
      comment: 'The program needs nothing that builds it.',
      from: { path: '^src/' },
      to: { path: buildTools.map((name) => `node_modules/${name}`) },
    },
    {
      name: 'src-without-tests',
      severity: 'error',
      comment: 'Tests know the program, not the other way round.',
      from: { path: '^src/' },
      to: { path: '^(test|bench)/' },
    },
    room('rules', 'Rules are pure functions.', []),
    room('wire', 'What server and agent speak knows neither of them.', []),
    room('settings', 'Settings are read before anything else exists.', ['rules/']),
    room('store', 'The store knows nothing above it.', ['package-file\\.ts$']),
    room('stream-handlers', 'The far end of a stream may be an agent or the server.', ['wire/', 'rules/']),
    room('service', 'What starts the program knows nothing of it.', []),
    room('engine', 'The engine never waits on the database.', ['stream-handlers/', 'wire/', 'rules/']),
    room('agent', 'The agent runs without the server.', ['stream-handlers/', 'wire/', 'rules/', 'young-generation\\.ts$']),
    room('schema', 'Resolvers know of the engine only its public face.', ['rules/', 'store/', 'engine/face\\.ts$']),
    room('migration', 'A migration puts together what the server has, for its own commands.', [
      'rules/',
      'settings/',
      'store/',
      'schema/',
      'legacy/signature\\.ts$',
      'agent/config/',
      '(version|log)\\.ts$',
    ]),
    room('legacy', 'The legacy endpoints run GraphQL operations; they reach neither store, engine nor resolvers.', [
      'rules/',
      'settings/settings\\.ts$',
      'schema/(errors|error-codes)\\.ts$',
    ]),
    room('http', 'HTTP mounts what others made.', ['rules/', 'settings/', 'schema/', 'legacy/', 'wire/(listen-on|shared-ports)\\.ts$', 'package-file\\.ts$']),
    {
      name: 'only-the-roots-compose',
      severity: 'error',
      comment: 'server.ts, command-line.ts and main.ts alone put things together.',
      from: { path: '^src/[^/]+/' },
      to: { path: '^src/(server|command-line|main)\\.ts$' },
    },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // The parser does not read JSX. That the panel imports nothing of the program is checked by its tsconfig.json (rootDir).
    exclude: { path: '^src/(prepare/|packaging/|panel/|[^/]+\\.mjs$)' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.mjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
};
