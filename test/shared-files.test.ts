import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { installationKeyFile, invitationOf } from '../src/settings/installation-key.ts';
import { InstallationKeys } from '../src/installation-keys.ts';
import { rotateKey } from '../src/rotate-key.ts';
import { SharedFiles } from '../src/shared-files.ts';
import { testDatabases } from './support/database.ts';
import { LogRecorder } from './support/log-recorder.ts';
import { describeWith } from './support/programs.ts';
import type { TestStore } from './support/test-store.ts';

const directories: string[] = [];
afterEach(() => Promise.all(directories.splice(0).map((directory) => rm(directory, { recursive: true }))));

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'adit-shared-'));
  directories.push(directory);
  return directory;
}

const keysOf = (store: TestStore, dataDir: string, invitation = '', log = new LogRecorder()) =>
  InstallationKeys.open({ store, dataDir, invitation, log: log.logger });
const open = async (store: TestStore, dataDir: string, invitation = '', log = new LogRecorder()) =>
  SharedFiles.open({ store, dataDir, keys: await keysOf(store, dataDir, invitation, log), log: log.logger });
const content = (dataDir: string) => readFile(path.join(dataDir, 'a.json'), 'utf8').catch(() => undefined);
const write = (dataDir: string, text: string) => writeFile(path.join(dataDir, 'a.json'), text);

describeWith('initdb', 'files that servers share through PostgreSQL', () => {
  const databases = testDatabases('postgresql');

  test('are those of the first server for one that was invited, readable by the user only, and encrypted in the database', async () => {
    const store = await databases.openEmpty();
    const [one, two] = [await newDirectory(), await newDirectory()];
    await write(one, 'the secret of the first');
    await (await open(store, one)).synchronize(['a.json', 'b.json']);
    expect((await store.db.sharedFile.findMany()).map(({ name }) => name).toSorted()).toEqual(['a.json', 'installation']);
    expect(JSON.stringify(await store.db.sharedFile.findMany())).not.toMatch(/secret|installation-/);
    await write(two, 'its own');
    const log = new LogRecorder();
    await (await open(store, two, invitationOf(one), log)).synchronize(['a.json']);
    expect(await content(two)).toBe('the secret of the first');
    expect(log.entries.map(({ msg }) => msg).join('')).toContain('replaced by that of the installation');
    for (const file of ['a.json', 'installation.key', 'shared-files.json']) expect((await stat(path.join(two, file))).mode & 0o777).toBe(0o600);
    // The invitation is needed once.
    await (await open(store, two)).synchronize(['a.json']);
    expect(await content(two)).toBe('the secret of the first');
  });

  test('that one server changes, running or stopped, change for the others; a missing one is restored; of two changes, the first stays', async () => {
    const store = await databases.openEmpty();
    const [one, two] = [await newDirectory(), await newDirectory()];
    await write(one, '1');
    const first = await open(store, one);
    await first.synchronize(['a.json']);
    const second = await open(store, two, invitationOf(one));
    await second.synchronize(['a.json']);
    await write(two, '2');
    await second.synchronize(['a.json']);
    await first.synchronize(['a.json']);
    expect(await content(one)).toBe('2');
    await write(one, '3');
    await (await open(store, one)).synchronize(['a.json']);
    await write(two, 'too late');
    await second.synchronize(['a.json']);
    expect([await content(one), await content(two)]).toEqual(['3', '3']);
    await rm(path.join(two, 'a.json'));
    await (await open(store, two)).synchronize(['a.json']);
    expect(await content(two)).toBe('3');
    // Without what both had in common, the database counts.
    await writeFile(path.join(two, 'shared-files.json'), '{"a.json": ');
    await write(two, 'changed beside a damaged file');
    await (await open(store, two)).synchronize(['a.json']);
    expect(await content(two)).toBe('3');
  });

  test('are not shared with a server without the key, or with another one: it says what to do', async () => {
    const store = await databases.openEmpty();
    const [one, two] = [await newDirectory(), await newDirectory()];
    await open(store, one);
    for (
      const remedy of [
        /whose key this server lacks: set ADIT_INVITATION to what "adit nodes invite" prints on another server, or start with the data directory that this one had before;/,
        /this is not the key of the installation/,
      ]
    ) {
      await expect(open(store, two)).rejects.toMatchObject({ problems: [expect.stringMatching(remedy)] });
      await writeFile(installationKeyFile(two), `adit-invitation-${Buffer.alloc(32).toString('base64url')}\n`);
    }
    expect(() => invitationOf(path.join(one, 'nowhere'))).toThrow(/installation\.key: there is no such file/);
    await expect(open(store, await newDirectory(), 'nonsense')).rejects.toMatchObject({ problems: ['invitation: must be what "adit nodes invite" prints'] });
    // If the key is lost: the next start begins with what it has.
    await store.db.sharedFile.deleteMany();
    const next = await newDirectory();
    await write(next, 'kept');
    await (await open(store, next)).synchronize(['a.json', 'b.json']);
    expect(await content(next)).toBe('kept');
    expect((await store.db.sharedFile.findMany()).map(({ name }) => name).toSorted()).toEqual(['a.json', 'installation']);
    await expect(open(store, one)).rejects.toMatchObject({ problems: [expect.stringMatching(/this is not the key of the installation/)] });
  });

  test('that somebody without the key changed in the database are refused, and the file stays', async () => {
    const store = await databases.openEmpty();
    const one = await newDirectory();
    await write(one, '1');
    const files = await open(store, one);
    await files.synchronize(['a.json']);
    const check = await store.db.sharedFile.findUniqueOrThrow({ where: { name: 'installation' } });
    await store.db.sharedFile.update({ where: { name: 'a.json' }, data: { sealed: check.sealed } });
    await expect(files.synchronize(['a.json'])).rejects.toMatchObject({
      problems: [expect.stringMatching(/a\.json .* lacks the key of the installation: delete its row in the table "SharedFile"/)],
    });
    expect(await content(one)).toBe('1');
    await store.db.sharedFile.delete({ where: { name: 'a.json' } });
    await files.synchronize(['a.json']);
    expect(await content(one)).toBe('1');
  });

  test('are encrypted with another key when all servers that are alive have it; one that was away needs a new invitation', async () => {
    const store = await databases.openEmpty();
    const [one, two, away] = [await newDirectory(), await newDirectory(), await newDirectory()];
    await write(one, 'shared');
    await (await open(store, one)).synchronize(['a.json']);
    const invitation = invitationOf(one);
    const first = await keysOf(store, one);
    const [second, third] = [await keysOf(store, two, invitation), await keysOf(store, away, invitation)];
    const now = new Date();
    for (const name of ['one', 'two', 'away']) {
      const seenAt = name === 'away' ? new Date(0) : now;
      await store.db.node.create({ data: { name, address: '', linkPort: 0, version: '1', incarnation: name, startedAt: now, seenAt } });
    }
    await first.begin();
    await first.begin(); // goes on with the same change
    expect(await store.db.auditEntry.findMany({ where: { resource: 'installationKey' } })).toMatchObject([
      { action: 'update', callerKind: 'server', resourceId: 'installation', before: '{"changing":false}', after: '{"changing":true}' },
    ]);
    expect(await first.follow('one')).toEqual(['two']);
    expect(first.links.next).toBeDefined();
    // Until the others have it, everything is as before.
    expect(invitationOf(one)).toBe(invitation);
    // One that starts meanwhile has both keys before the others know that it runs.
    const startingIn = await newDirectory();
    const starting = await keysOf(store, startingIn, invitation);
    expect(starting.links).toEqual(first.links);
    const files = await SharedFiles.open({ store, dataDir: two, keys: second, log: new LogRecorder().logger });
    await files.synchronize(['a.json']);
    const before = await store.db.sharedFile.findMany();
    expect(await second.follow('two')).toBeUndefined();
    // It also has the key if it is started again.
    expect((await keysOf(store, startingIn)).links).toEqual(second.links);
    // The first server does not know yet that this was the last one, and that the key is the other one now.
    await write(one, 'changed');
    const log = new LogRecorder();
    await (await SharedFiles.open({ store, dataDir: one, keys: first, log: log.logger })).synchronize(['a.json']);
    expect(await first.follow('one')).toBeUndefined();
    expect(await starting.follow('starting')).toBeUndefined();
    for (const { links } of [first, starting]) expect(links).toEqual({ current: second.links.current, next: undefined });
    await files.synchronize(['a.json']);
    expect([await content(one), await content(two)]).toEqual(['changed', 'changed']);
    const after = await store.db.sharedFile.findMany();
    expect(after.map(({ name }) => name).toSorted()).toEqual(['a.json', 'installation']);
    expect(after.filter(({ sealed }) => before.some((row) => row.sealed === sealed))).toEqual([]);

    expect(invitationOf(one)).toBe(invitationOf(two));
    expect(invitationOf(one)).not.toBe(invitation);
    await expect(third.follow('away')).rejects.toMatchObject({ problems: [expect.stringMatching(/this server needs a new invitation/)] });
    for (const directory of [away, await newDirectory()]) {
      await expect(keysOf(store, directory, invitation)).rejects.toMatchObject({ problems: [expect.stringMatching(/or no longer: .*: set ADIT_INVITATION/)] });
      expect((await keysOf(store, directory, invitationOf(one))).links).toEqual(first.links);
      expect(invitationOf(directory)).toBe(invitationOf(one));
    }
  });

  test('keep their key while a server that runs does not take the next one, which the command names; when it is stopped, the key is changed', async () => {
    const { url, open: openStore } = await databases.create();
    const store = await openStore();
    const dataDir = await newDirectory();
    await write(dataDir, 'shared');
    await (await open(store, dataDir)).synchronize(['a.json']);
    const invitation = invitationOf(dataDir);
    const moment = { startedAt: new Date(), seenAt: new Date(Date.now() + 3_600_000) };
    await store.db.node.create({ data: { name: 'old', address: '', linkPort: 0, version: '1', incarnation: 'old', ...moment } });
    const rotate = () => rotateKey({ environment: { ADIT_DATABASE_URL: url, ADIT_DATA_DIR: dataDir, ADIT_LOG_LEVEL: 'error' } });
    const now = performance.now.bind(performance);
    let ahead = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + (ahead += 10_000));
    try {
      await expect(rotate()).rejects.toThrow(/^these servers do not take the new key: old\./);
    } finally {
      clock.mockRestore();
    }
    expect(invitationOf(dataDir)).toBe(invitation);
    await store.db.node.updateMany({ data: { stopped: true } });
    expect(await rotate()).toMatch(/^The key of the installation was changed\./);
    expect(invitationOf(dataDir)).not.toBe(invitation);
    await (await open(store, dataDir)).synchronize(['a.json']);
    expect(await content(dataDir)).toBe('shared');
  });
});
