import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { afterAll, expect, test } from '@jest/globals';
import { covering } from '../support/certificates.ts';
import { Child, endChildren } from '../support/child.ts';
import { curl } from '../support/curl.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { programPath } from '../support/find-program.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { startOwnPostgresql, type OwnPostgresqlServer } from '../support/postgresql.ts';
import { authKey, newDataDir, openTunnel, programOf, quickStart, startAgent, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';
import { everywhere, invitationOf } from '../support/several-servers.ts';
import { roundTrip, startEcho, visit } from '../support/target.ts';

/** The network of the document, and a part of the loopback network that takes its place. */
const [THERE, HERE] = ['10.0.0.', '127.0.77.'];

/** A file of the document, with other texts instead of some. Each of them has to be in it. */
function fileOf(name: string, replacements: Readonly<Record<string, string>>): string {
  const document = readFileSync('docs/scaling.md', 'utf8');
  let file = new RegExp(`^ +\`\`\`\\w+ file=${name}\\n([^]*?)^ +\`\`\`$`, 'm').exec(document)?.[1] ?? '';
  for (const [from, to] of Object.entries(replacements)) {
    if (!file.includes(from)) throw new Error(`${name} has no ${from}`);
    file = file.replaceAll(from, to);
  }
  return file;
}

describeWith(['initdb', 'haproxy'], 'docs/scaling.md', () => {
  let postgresql: OwnPostgresqlServer | undefined;
  afterAll(async () => {
    await endChildren();
    await postgresql?.stop();
    removeScratchDirectories();
  });

  test('its three servers and its haproxy serve the API, agents, tunnels and hosts, and one server that is killed is not missed', async () => {
    postgresql = await startOwnPostgresql();
    const url = await postgresql.createDatabase();
    const servers: Array<{ readonly child: Child; readonly dataDir: string; readonly httpHost: string; readonly httpPort: number }> = [];
    for (const [index, name] of ['one', 'two', 'three'].entries()) {
      const [dataDir, httpHost] = [newDataDir(), `${HERE}1${index + 1}`];
      const [first] = servers;
      const settings = fileOf('adit.toml', {
        '/var/lib/adit': dataDir,
        'postgresql://adit:the-password@10.0.0.20/adit': url,
        '"one"': `"${name}"`,
        '10.0.0.11': httpHost,
        [THERE]: HERE,
      });
      const file = path.join(scratchDirectory(), 'adit.toml');
      writeFileSync(file, `${settings}${first ? `invitation = "${await invitationOf(first)}"\n` : ''}`, { mode: 0o600 });
      const child = new Child(process.execPath, [...quickStart, programOf(), 'server', '--config', file], { ADIT_AUTH_KEY: authKey });
      await child.says(/API +http/);
      servers.push({ child, dataDir, httpHost, httpPort: 8080 });
    }
    const pem = path.join(scratchDirectory(), 'panel.pem');
    writeFileSync(pem, covering.certificate + covering.key);
    const file = path.join(scratchDirectory(), 'haproxy.cfg');
    const front = `${HERE}10`;
    // On a network of its own, haproxy connects from its address anyway.
    const ours = {
      [THERE]: HERE,
      'maxconn 20000': 'maxconn 2000',
      'option redispatch 1': `option redispatch 1\n    source ${front}`,
      '/etc/ssl/panel.pem': pem,
    };
    writeFileSync(file, fileOf('haproxy.cfg', ours));
    const haproxy = new Child(programPath('haproxy'), ['-db', '-f', file]);

    const [one, , three] = servers;
    if (!one || !three) throw new Error('there are three servers');
    const client = await write(one, '/client/add/', { vkey: 'the key of the agent' });
    await eventuallyAsync(async () => (await curl(['-sk', `https://${front}:8443/readyz`])).stdout, (output) => output.includes('ready'), 20_000);
    await startAgent({ bridgeHost: front, bridgePort: 8024 }, 'the key of the agent');
    const target = await startHttpTarget();
    const tunnel = await openTunnel(one, client, (await startEcho()).address);
    await write(one, '/index/addhost/', {
      client_id: client,
      host: 'a.p.example.com',
      target: `127.0.0.1:${target.port}`,
      cert_file_path: covering.certificate,
      key_file_path: covering.key,
    });
    await everywhere(servers, `{ tunnel(id: ${tunnel.id}) { runtime { running } } }`, (data) => JSON.stringify(data).includes('true'));

    const served = async (): Promise<readonly string[]> => {
      const socket = await visit(tunnel.port, front);
      const through = await roundTrip(socket, 'hello').finally(() => socket.destroy());
      const answers = await Promise.all(
        ['http', 'https'].map((scheme) => curl(['-sk', '--connect-to', `::${front}:`, '--interface', `${HERE}99`, `${scheme}://a.p.example.com/${scheme}`])),
      );
      return [through, ...answers.map(({ stdout }) => stdout)];
    };
    for (let round = 0; round < 6; round++) expect(await served()).toEqual(['hello', 'GET /http ', 'GET /https ']);
    expect(new Set(target.requests.map(({ headers }) => headers['x-forwarded-for']))).toEqual(new Set([`${HERE}99`]));

    three.child.kill('SIGKILL');
    await three.child.exited;
    await haproxy.says(/apis\/three is DOWN/);
    for (let round = 0; round < 6; round++) expect(await served()).toEqual(['hello', 'GET /http ', 'GET /https ']);
  }, 240_000);
});
