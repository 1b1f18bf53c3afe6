import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import v8 from 'node:v8';
import { afterAll, expect, jest, test } from '@jest/globals';
import { Command } from 'commander';
import pino from 'pino';
import { addMigrationCommands } from '../../src/migration/commands.ts';
import { exportNps } from '../../src/migration/nps/export/export-nps.ts';
import { readNpsFolder } from '../../src/migration/nps/folder.ts';
import { runImport } from '../../src/migration/run-import.ts';
import { ImportSet } from '../../src/schema/import/records.ts';
import { Writes } from '../../src/schema/writes/writes.ts';
import { readSettings } from '../../src/settings/load.ts';
import { openStore } from '../../src/store/store.ts';
import { testDatabases } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { npsClient, npsFolder, npsHost, npsTunnel, npsUser } from '../support/nps-folder.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';

afterAll(removeScratchDirectories);

test('an import without a running server obeys the settings: ports, local_proxy, the name of the administrator, the own address; a database that fails is named', async () => {
  const directory = scratchDirectory();
  const configFile = path.join(directory, 'adit.toml');
  const settingsOf = (text: string) => {
    writeFileSync(configFile, `data_dir = ${JSON.stringify(path.join(directory, 'data'))}\n${text}`);
    return readSettings({ configFile }).settings;
  };
  const folder = npsFolder({
    users: [npsUser({ Id: 4, UserName: 'root' }), npsUser({ Id: 5, UserName: 'admin' })],
    clients: [npsClient({ UserId: 5 })],
    tasks: [
      ...[1, 2, 3, 4].map((at) => npsTunnel({ Id: at, Port: 9000 + at })),
      npsTunnel({ Id: 5, Port: 9100 }),
      npsTunnel({ Id: 6, Port: 9050, Target: { TargetStr: '80', LocalProxy: true } }),
    ],
    hosts: [npsHost({ Host: 'panel.example.com' })],
  });
  const run = async (text: string) => {
    const { set, problems, leftOut, notes } = readNpsFolder(folder);
    const options = { dryRun: true, merge: false, update: false, skipBroken: false };
    const report = await runImport(set, { problems, leftOut, notes }, options, settingsOf(text), pino({ level: 'silent' }));
    return {
      problems: report.problems.map(({ source, field, text: problem }) => `${source} ${field}: ${problem}`),
      notes: report.notes.map(({ source, text: note }) => `${source}: ${note}`),
    };
  };
  const ports = 'bridge_port = 9001\nbridge_tls_port = 9002\nvhost_http_port = 9003\nvhost_https_port = 9004\n';
  const own = (id: number) => `tasks.json: Id ${id} port: port ${9000 + id} is in use by the server itself: give it another port, or stop one of the two`;
  const strict = await run(`${ports}allow_ports = "9000-9099"\nadmin_username = "root"\npublic_url = "https://panel.example.com"\n`);
  expect(strict.problems).toEqual([
    expect.stringMatching(/^users\.json: Id 4 username: .*duplicate/),
    ...[1, 2, 3, 4].map(own),
    'tasks.json: Id 5 port: port 9100 is not among the ports that allow_ports names',
  ]);
  expect(strict.notes).toEqual([
    expect.stringMatching(/^tasks\.json: Id 6: local_proxy is not carried over/),
    expect.stringMatching(/^hosts\.json: Id 3: /),
  ]);
  const other = await run('allow_local_proxy = true\nadmin_username = "boss"\n');
  expect(other).toEqual({ problems: [], notes: [] });
  const failing = jest.spyOn(Writes.prototype, 'run').mockRejectedValue(Object.assign(new Error('no answer'), { code: 'ECONNREFUSED' }));
  await expect(run('')).rejects.toThrow('the import has failed, because the database has: no answer. Run the command again');
  failing.mockRejectedValue(new TypeError('a fault'));
  await expect(run('')).rejects.toThrow(new TypeError('a fault'));
  failing.mockRestore();
});

describeWith('initdb', 'while a server runs on a PostgreSQL database', () => {
  const databases = testDatabases('postgresql');

  test('an import goes through it, and an export is refused', async () => {
    const { url, dataDir } = await databases.create();
    const log = pino({ level: 'silent' });
    const { settings } = readSettings({ environment: { ADIT_DATABASE_URL: url, ADIT_DATA_DIR: dataDir, ADIT_HTTP_PORT: String(await freePort()) } });
    const server = await openStore({ url, dataDir, log });
    try {
      const options = { dryRun: false, merge: false, update: false, skipBroken: false };
      const found = { problems: [], leftOut: [], notes: [] };
      await expect(runImport(new ImportSet(), found, options, settings, log)).rejects.toThrow(/^a server is running on this database, but not reachable/);
      const directory = path.join(scratchDirectory(), 'exported');
      await expect(exportNps(directory, 'Z', settings)).rejects.toThrow(/another server is running on this database$/);
      expect(existsSync(directory)).toBe(false);
    } finally {
      await server.close();
    }
  });
});

test('the command of an import succeeds when there is nothing to import, and fails when it is refused; it reads all sources of settings', async () => {
  const { exitCode } = process;
  const write = jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
  const flags = jest.spyOn(v8, 'setFlagsFromString').mockReturnValue(); // they would be those of the other suites, too
  const dataDir = path.join(scratchDirectory(), 'data');
  const run = async (clients: Parameters<typeof npsFolder>[0]['clients'], ...words: string[]) => {
    const program = new Command();
    const unused = async () => undefined;
    addMigrationCommands(program, { agent: unused, visit: unused });
    process.exitCode = undefined;
    await program.parseAsync(['import', 'nps', npsFolder({ clients }), '--data-dir', dataDir, ...words], { from: 'user' });
    return [process.exitCode, write.mock.calls.splice(0).map(([text]) => String(text)).join('')];
  };
  try {
    expect(await run([])).toEqual([undefined, expect.stringContaining('Nothing to do: ')]);
    expect(await run([npsClient({ Id: 1 }), npsClient({ Id: 1 })])).toEqual([1, expect.stringContaining('Nothing was imported')]);
    // The report as JSON has the remarks, too. With a settings file, the environment still counts.
    const config = path.join(scratchDirectory(), 'adit.toml');
    writeFileSync(config, 'allow_ports = "1-2"\n');
    const settings = ['--config', config, '--json', '--dry-run'];
    process.env['ADIT_ALLOW_PORTS'] = 'all';
    await expect(run([npsClient()], ...settings, '--database-url', 'mysql://x')).rejects.toThrow(/ADIT_ALLOW_PORTS: [^]*--database-url: /);
    delete process.env['ADIT_ALLOW_PORTS'];
    const [code, json] = await run([npsClient()], ...settings);
    expect([code, JSON.parse(String(json))]).toEqual([
      undefined,
      expect.objectContaining({ outcome: 'planned', remarks: [expect.stringMatching(/^nps\.conf is missing/)] }),
    ]);
  } finally {
    delete process.env['ADIT_ALLOW_PORTS'];
    process.exitCode = exitCode;
    for (const spy of [write, flags]) spy.mockRestore();
  }
});
