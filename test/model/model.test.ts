import { randomInt } from 'node:crypto';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { isShort, sized } from '../support/endurance.ts';
import { freePortRange } from '../support/free-port.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { startServer, type ServerOptions } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { expectedContents, Installation, type Contents } from './installation.ts';
import { Model, requestNames, requestPaths } from './model.ts';
import { chooseOperation, type Operation } from './operations.ts';
import { Random } from './random.ts';

/*
 * Random operations by random callers, over both APIs, against a model of the rules. `npm test` always performs the same ones;
 * `npm run endurance` chooses others each time, and a failure's message names the `ADIT_MODEL_SEED` that repeats them.
 */

const OPERATIONS = sized(125, 5000);
const KILLS = sized(1, 25);
/** Between two comparisons of all records. */
const INTERVAL = 125;
const PORTS = 9;
const seed = Number(process.env['ADIT_MODEL_SEED'] ?? sized(1, randomInt(2 ** 31)));

afterAll(removeScratchDirectories);

/** What was done last, for the message of a failure. */
class History {
  readonly #lines: string[] = [];

  add(operation: Operation, api: string, outcome: unknown): void {
    this.#lines.push(
      `${operation.caller === null ? 'administrator' : `user ${operation.caller}`}, ${api}: ${operation.name} ${
        JSON.stringify(operation.graphql.variables)
      } -> ${JSON.stringify(outcome)}`,
    );
    if (this.#lines.length > 12) this.#lines.shift();
  }

  /** Runs a check. @throws its error, with the seed and the last operations */
  async during(check: () => Promise<void>): Promise<void> {
    try {
      await check();
    } catch (error) {
      throw new Error(`with ADIT_MODEL_SEED=${seed}, after\n  ${this.#lines.join('\n  ')}\n${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
}

/** Performs one operation, and compares its outcome with the model's. @returns its name, if it was done */
async function step(installation: Installation, model: Model, random: Random, history: History): Promise<string | undefined> {
  const operation = chooseOperation(model, random);
  const api = random.once(2) ? 'graphql' : 'legacy';
  const outcome = await installation.perform(operation, api, model);
  history.add(operation, api, outcome);
  await history.during(async () => {
    const problems = model.accepts(operation.caller) ? operation.problems(model) : ['UNAUTHENTICATED'];
    if ('made' in outcome) {
      expect(problems).toEqual([]);
      operation.apply(model, outcome.made);
    } else if (api === 'graphql' || outcome.refused === 'UNAUTHENTICATED') expect(problems).toContain(outcome.refused);
    // The legacy API has texts instead of codes, and 403 for what is not the caller's.
    else if (outcome.refused === 'FORBIDDEN') expect(problems).toContain('FORBIDDEN');
    else expect(problems.filter((problem) => problem !== 'UNAUTHENTICATED')).not.toEqual([]);
  });
  return 'made' in outcome ? operation.name : undefined;
}

/** Compares what the server has stored and what its engine serves with the model. */
async function compare(installation: Installation, model: Model, history: History): Promise<void> {
  await history.during(async () => {
    expect(await installation.contents()).toEqual(expectedContents(model));
    for (const port of model.ports) {
      const listening = [...model.tunnels.values()].some((tunnel) =>
        tunnel.mode === 'TCP' && tunnel.port === port && tunnel.enabled && model.serves(tunnel.clientId)
      );
      expect([port, await installation.accepts(port)]).toEqual([port, listening]);
    }
    const requests = requestNames.flatMap((name) => requestPaths.map((path) => [name, path] as const));
    const served = await Promise.all(requests.map(async ([name, path]) => [name, path, await installation.statusOf(name, path) !== 404]));
    expect(served).toEqual(requests.map(([name, path]) => [name, path, model.routes(name, path)]));
  });
}

interface Started {
  readonly installation: Installation;
  /** What the records are like now. */
  model: Model;
  readonly restart: () => Promise<void>;
}

async function start(options: ServerOptions): Promise<Started> {
  const first = await freePortRange(PORTS);
  const environment = { ...options.environment, ADIT_ALLOW_PORTS: `${first}-${first + PORTS - 1}` };
  const server = await startServer({ ...options, environment });
  const installation = new Installation(server);
  return {
    installation,
    model: new Model(Array.from({ length: PORTS }, (_, n) => first + n)),
    async restart() {
      await installation.server.child.exited;
      const { dataDir, httpPort } = server;
      installation.server = await startServer({ dataDir, httpPort, environment });
    },
  };
}

/** What an operation has made that the model can't know, if the records show that it was done. */
function madeBy(operation: Operation, before: Model, after: Contents): { readonly id: number; readonly port: number | null; readonly password: string | null } {
  const kind = operation.name.endsWith('User')
    ? 'users'
    : operation.name.endsWith('Client')
    ? 'clients'
    : operation.name.endsWith('Host')
    ? 'hosts'
    : 'tunnels';
  const target = operation.graphql.variables['id'];
  const row = operation.name.startsWith('create') || operation.name.startsWith('copy')
    ? after[kind].find(({ id }) => !before[kind].has(Number(id)))
    : after[kind].find(({ id }) => id === target);
  return {
    id: Number(row?.['id'] ?? target),
    port: typeof row?.['port'] === 'number' ? row['port'] : null,
    password: typeof row?.['password'] === 'string' ? row['password'] : null,
  };
}

function runs(options: () => Promise<ServerOptions>): void {
  afterAll(endChildren);
  let started: Started;
  beforeAll(async () => {
    started = await start(await options());
  });

  test(
    `${OPERATIONS} random operations over both APIs have the outcome that the rules say, and leave the records and listeners that the model has`,
    async () => {
      const { installation, model } = started;
      const [random, history] = [new Random(seed), new History()];
      const done = new Set<string | undefined>();
      for (let count = 1; count <= OPERATIONS; count++) {
        done.add(await step(installation, model, random, history));
        if (count % INTERVAL === 0) await compare(installation, model, history);
      }
      // Otherwise most of the rules were not tested.
      expect([...done]).toEqual(expect.arrayContaining(['createUser', 'createClient', 'createTunnel', 'createHost']));
    },
    900_000,
  );

  if (!isShort) {
    test(`after ${KILLS} kills during an operation, it is done or not, and all earlier ones are`, async () => {
      const { installation, restart } = started;
      const [random, history] = [new Random(seed + 1), new History()];
      for (let kill = 0; kill < KILLS; kill++) {
        for (let done = random.below(40); done < 45; done++) await step(installation, started.model, random, history);
        const { model: before } = started;
        let operation = chooseOperation(before, random);
        while (!before.accepts(operation.caller) || operation.problems(before).length > 0) operation = chooseOperation(before, random);
        const outcome = installation.perform(operation, 'graphql', before).catch(() => undefined);
        await wait(random.below(12)); // a random moment of the operation, not the end of anything
        installation.server.child.kill('SIGKILL');
        const acknowledged = await outcome;
        await restart();
        const contents = await installation.contents();
        const model = started.model = before.copy();
        const isDone = acknowledged !== undefined || !isDeepStrictEqual(contents, expectedContents(before));
        history.add(operation, 'graphql', isDone ? 'killed, done' : 'killed, not done');
        if (isDone) await history.during(async () => operation.apply(model, madeBy(operation, before, contents)));
        await compare(installation, model, history);
      }
    }, 900_000);
  }
}

describe('a model of the rules, with SQLite', () => {
  runs(async () => ({}));
});

if (!isShort) {
  describeWith('initdb', 'a model of the rules, with PostgreSQL', () => {
    let postgresql: PostgresqlServer;
    beforeAll(async () => {
      postgresql = await startPostgresql();
    });
    afterAll(() => postgresql.stop());
    runs(async () => ({ environment: { ADIT_DATABASE_URL: await postgresql.createDatabase() } }));
  });
}
