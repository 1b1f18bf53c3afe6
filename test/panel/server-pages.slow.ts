import { beforeAll, expect, test } from '@jest/globals';
import { describeWith } from '../support/programs.ts';
import { accessibilityProblems } from './axe.ts';
import { answer, choose, enter, hides, press, problemsAt, shows, testPanel } from './panel.ts';

// Short form: test/panel/first-visit.test.ts

describeWith('chromium', "the panel's pages about the server", () => {
  const panel = testPanel();
  let client = 0;
  let tunnel = 0;
  beforeAll(async () => {
    client = await panel.write('/client/add/', { vkey: 'key of the secrets', remark: 'the machine' });
    tunnel = await panel.write('/index/add/', {
      client_id: client,
      type: 'secret',
      password: 'password of the tunnel',
      target: '127.0.0.1:9',
      remark: 'hidden',
    });
    await panel.write('/index/addhost/', { client_id: client, host: 'shop.example.com', target: '127.0.0.1:9', scheme: 'all' });
  });

  test('a platform domain is added, its names are checked while they are typed, and it is only removed when no host uses it', async () => {
    const { page, complaints } = await panel.open('/platform-domains');
    /** Enters a name below the only platform domain into the form of a new host. */
    const enterName = async (): Promise<void> => {
      await page.goto(`${panel.origin()}/hosts/new?client=${client}`);
      await page.waitForSelector('input[value=PLATFORM]');
      await page.click('input[value=PLATFORM]');
      await page.waitForFunction(() => document.querySelectorAll('#field-platformDomainId option').length === 2);
      await page.select('#field-platformDomainId', await page.$eval('#field-platformDomainId option:nth-child(2)', (option) => option.value));
      await page.type('#field-platformPrefix', 'first');
    };
    await shows(page, 'No platform domains');
    await press(page, 'Add a domain');
    await problemsAt(page, ['wildcard']);
    await enter(page, 'Domain', 'not a wildcard');
    await press(page, 'Add a domain');
    await problemsAt(page, ['wildcard']);
    expect(await accessibilityProblems(page)).toEqual([]);
    await enter(page, 'Domain', '*.sites.example.com');
    await press(page, 'Add a domain');
    await shows(page, 'none: HTTP only');

    await enterName();
    await shows(page, 'first.sites.example.com is free.');
    await enter(page, 'Targets', '127.0.0.1:9');
    await press(page, 'Create the host');
    await problemsAt(page, ['scheme']);
    await shows(page, 'This platform domain has no certificate: choose HTTP only.');
    await page.select('#field-scheme', 'HTTP');
    await press(page, 'Create the host');
    await page.waitForFunction(() => document.querySelector('h1')?.textContent?.startsWith('first.sites.example.com'));
    const made = new URL(page.url()).pathname;
    await enterName();
    await shows(page, 'first.sites.example.com is taken.');
    expect(await accessibilityProblems(page)).toEqual([]);

    await page.goto(`${panel.origin()}/platform-domains`);
    await choose(page, 'Actions for *.sites.example.com', 'Remove');
    await answer(page, 'Remove');
    await page.waitForSelector('[role=alert]');
    await panel.write('/index/delhost/', { id: made.split('/').at(-1) ?? '' });
    await choose(page, 'Actions for *.sites.example.com', 'Remove');
    await answer(page, 'Remove');
    await shows(page, 'No platform domains');
    expect(complaints).toEqual([]);
  });

  test('settings are changed, and not over somebody else’s change', async () => {
    const { page } = await panel.open('/');
    await page.waitForSelector('.sidebar');
    await page.keyboard.press('/');
    await page.waitForSelector('.palette [role=combobox]:focus');
    // A part of the explanation.
    await page.keyboard.type('refused everywhere');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#field-blocklist');
    await shows(page, panel.server().fingerprint);
    await enter(page, 'Server URL optional', 'nonsense');
    await press(page, 'Save');
    await problemsAt(page, ['serverUrl']);
    await enter(page, 'Server URL optional', '');
    await enter(page, 'Global blocklist optional', '198.51.100.0/24');
    await press(page, 'Save');
    await shows(page, 'Saved');
    await page.reload();
    await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('#field-blocklist')?.value === '198.51.100.0/24');
    await panel.write('/global/save/', { globalBlackIpList: '192.0.2.1' });
    await enter(page, 'Server URL optional', 'http://127.0.0.1');
    await press(page, 'Save');
    await shows(page, 'Changed in the meantime: Global blocklist.');
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  test('the diagnosis of a mistyped host says that nothing matches, and offers the right one; so does its address of the older API', async () => {
    const { page } = await panel.open('/diagnosis');
    await page.waitForSelector('#field-subject');
    await press(page, 'Diagnose');
    await shows(page, 'Enter a URL with http:// or https://.');
    await page.goto(`${panel.origin()}/index/hostdiagnose/?host=shpo.example.com&path=/&scheme=http`);
    await shows(page, 'Visitors are stopped here: Route.');
    expect(await accessibilityProblems(page)).toEqual([]);
    await press(page, 'shop.example.com');
    await shows(page, 'Visitors are stopped here: Agent.');
    await shows(page, 'Visitors see the status 503 and the page “The site is away”.');
    // The form shows the new question.
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#field-subject')?.value.includes('shop.example.com'));
    // It looks again by itself.
    await panel.write('/client/changestatus/', { id: client, status: 0 });
    await shows(page, 'Visitors are stopped here: Enabled.');
    await panel.write('/client/changestatus/', { id: client, status: 1 });
    await shows(page, 'Visitors are stopped here: Agent.');
    await press(page, 'Look again');
    await shows(page, 'Visitors are stopped here: Agent.');
    await press(page, 'Also look the name up');
    await press(page, 'Diagnose');
    await shows(page, 'Name and port');
    await page.goto(`${panel.origin()}/tunnels/${tunnel}`);
    await press(page, 'Diagnose this tunnel');
    await shows(page, 'Visitors are stopped here: Agent.');
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  test('the wall needs a token of its own, shows no secrets, and its address is in no request', async () => {
    const made = await panel.open('/wall');
    await press(made.page, 'Create a wall screen');
    await shows(made.page, 'Agents online');
    const { hash } = new URL(made.page.url());
    expect(hash.length).toBeGreaterThan(20);

    // On another machine: without a session.
    await made.page.browserContext().deleteCookie(...await made.page.browserContext().cookies());
    const { page, complaints } = await panel.openPublic('/login/index');
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(`${panel.origin()}/wall${hash}`);
    await shows(page, 'Agents online');
    await shows(page, 'the machine');
    // The document's own request is reported with its fragment, which is not sent.
    expect(requests.slice(1).filter((url) => url.includes(hash.slice(1)))).toEqual([]);
    const text = await page.evaluate(() => document.documentElement.outerHTML);
    for (const secret of ['key of the secrets', 'password of the tunnel', 'shop.example.com']) expect(text).not.toContain(secret);
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('the wall refuses a token that may write, and says that one was revoked', async () => {
    const { page } = await panel.open('/tokens');
    const tokenOf = (input: Readonly<Record<string, unknown>>): Promise<{ readonly token: string; readonly id: string }> =>
      page.evaluate(async (given) => {
        const response = await fetch('/adit/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            query: 'mutation($input: CreateApiTokenInput!) { createApiToken(input: $input) { token apiToken { id } } }',
            variables: { input: given },
          }),
        });
        const { data } = await response.json() as { data: { createApiToken: { token: string; apiToken: { id: string } } } };
        return { token: data.createApiToken.token, id: data.createApiToken.apiToken.id };
      }, input);
    const mighty = await tokenOf({ name: 'writes', readOnly: false });
    const reader = await tokenOf({ name: 'reads', readOnly: true });
    const wall = await panel.openPublic(`/wall#${mighty.token}`);
    await shows(wall.page, 'This token may make changes');
    await hides(wall.page, 'Agents online');
    expect(await accessibilityProblems(wall.page)).toEqual([]);

    await wall.page.goto(`${panel.origin()}/login/index`);
    await wall.page.goto(`${panel.origin()}/wall#${reader.token}`);
    await shows(wall.page, 'Agents online');
    await page.evaluate(async (id) => {
      await fetch('/adit/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: `mutation { revokeApiToken(id: ${id}) }` }),
      });
    }, reader.id);
    await shows(wall.page, 'The token of this screen has ended or was revoked.');
    expect(await accessibilityProblems(wall.page)).toEqual([]);
  });
});
