const asyncHooks = require('node:async_hooks');
const { existsSync } = require('node:fs');
const { register } = require('node:module');
const path = require('node:path');
const process = require('node:process');
const v8 = require('node:v8');
const { fileURLToPath, pathToFileURL } = require('node:url');

register(pathToFileURL(path.join(__dirname, 'hooks.mjs')));

// Prisma's query compiler is WebAssembly: only its functions that are called are compiled, and quickly. To optimise them takes more than a suite gains by it.
for (const flag of ['--liftoff-only', '--wasm-lazy-compilation']) v8.setFlagsFromString(flag);

// Jest ends a worker by no longer listening to it, and kills it with a warning after half a second. A worker that has run a hundred suites needs longer than that to close what they left open and to free its
// memory, which nobody needs. So it kills itself: everything that it has found out is with jest by then.
process.on('removeListener', (name) => {
  if (name === 'message' && process.connected && process.listenerCount('message') === 0) process.kill(process.pid, 'SIGKILL');
});

const root = path.resolve(__dirname, '../../..');

/** @param {string} url as V8 has it; nothing for what is not compiled here: an error while a stack is put together would be looked up for ever */
function mapOf(url) {
  if (!url.startsWith('file:')) return undefined;
  const map = path.join(root, '.cache', 'tests', `${path.relative(root, fileURLToPath(url))}.js.map`);
  return existsSync(map) ? map : undefined;
}

/** Found when they are asked for. */
class SourceMaps extends Map {
  get(url) {
    return mapOf(url);
  }
}

/** Where jest-circus keeps who listens to it, and hooks.mjs what `@jest/globals` exports. */
const eventHandlers = Symbol.for('EVENT_HANDLERS');
const globalsOfSuite = Symbol.for('adit globals of the suite');

/**
 * Where jest-circus keeps which test runs, in place of an AsyncLocalStorage: while one is in use, Node tracks every promise and every event of the process for it, and each suite of a worker
 * leaves one behind. A variable does, because tests run one after another. Of concurrent tests (`test.concurrent`), only an error that no test waits for is not told apart.
 */
class RunningTest {
  #store;

  getStore() {
    return this.#store;
  }

  async run(store, callback) {
    const outer = this.#store;
    this.#store = store;
    try {
      return await callback();
    } finally {
      this.#store = outer;
    }
  }
}

/** Loads jest-circus so that it uses {@link RunningTest}. */
function withRunningTest(load) {
  const { AsyncLocalStorage } = asyncHooks;
  let used = false;
  asyncHooks.AsyncLocalStorage = class extends RunningTest {
    constructor() {
      super();
      used = true;
    }
  };
  try {
    const loaded = load();
    if (!used) throw new Error('jest-circus no longer keeps the running test in an AsyncLocalStorage: remove RunningTest');
    return loaded;
  } finally {
    asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
  }
}

let suites = 0;

/**
 * Loads suites the way Node loads modules, in place of `jest-runtime`, which gives each suite a realm and all modules of its own: there every
 * suite loads the program and its libraries again (a second and more of CPU), compiles hot code again, and reaches globals through a
 * proxy. Here the suites of a worker share the modules of src and of packages; each suite loads those of test and bench again, since they
 * keep what belongs to it (hooks.mjs). The methods are those that `jest-runner` and `jest-circus` call.
 */
module.exports = class Runtime {
  #environment;

  constructor(_config, environment) {
    this.#environment = environment;
  }

  async unstable_importModule(file) {
    return import(`${pathToFileURL(file).href}?suite=${++suites}`);
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  /** A part of jest. jest-circus, which keeps a suite's tests in its module, is loaded again for each suite. */
  requireInternalModule(file) {
    if (path.basename(file).startsWith('jestAdapterInit')) {
      delete require.cache[require.resolve(file)];
      delete globalThis[eventHandlers];
      return withRunningTest(() => require(file));
    }
    return require(file);
  }

  requireModule(file) {
    return require(file);
  }

  setGlobalsForRuntime(globals) {
    const { moduleMocker: mocker, fakeTimersModern: clock } = this.#environment;
    globalThis[globalsOfSuite] = {
      ...globals,
      jest: {
        fn: (implementation) => mocker.fn(implementation),
        spyOn: (object, name) => mocker.spyOn(object, name),
        useFakeTimers: (options) => clock.useFakeTimers(options),
        useRealTimers: () => clock.useRealTimers(),
        advanceTimersByTime: (ms) => clock.advanceTimersByTime(ms),
        advanceTimersByTimeAsync: (ms) => clock.advanceTimersByTimeAsync(ms),
        getTimerCount: () => clock.getTimerCount(),
      },
    };
  }

  /** Where the map to the lines of a compiled module is (hooks.mjs). */
  getSourceMaps() {
    return new SourceMaps();
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }

  enterTestCode() {}
  leaveTestCode() {}
  teardown() {}
};
