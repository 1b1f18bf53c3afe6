import { createHash, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testBrowser } from '../support/browser.ts';
import { covering } from '../support/certificates.ts';
import { Child } from '../support/child.ts';
import { curl } from '../support/curl.ts';
import { programPath } from '../support/find-program.ts';
import { type PlatformSite, startPlatformSite } from '../support/platform-site.ts';
import { describeWith } from '../support/programs.ts';
import { startWebTarget, type WebTarget } from '../support/web-target.ts';

// Short form: test/e2e/hosts.test.ts

let target: WebTarget;
let site: PlatformSite;

beforeAll(async () => {
  target = await startWebTarget();
  site = await startPlatformSite(target.address);
});
afterAll(() => target.close());

describeWith('chromium', 'a browser', () => {
  const key = createHash('sha256').update(new X509Certificate(covering.certificate).publicKey.export({ type: 'spki', format: 'der' })).digest('base64');
  const browser = testBrowser(['--host-resolver-rules=MAP *.p.example.com 127.0.0.1', `--ignore-certificate-errors-spki-list=${key}`]);

  test("loads a page with its assets over HTTP/2 and talks over a WebSocket, with the certificate of the platform's wildcard", async () => {
    const { page, complaints } = await browser.open(`${site.https}/`);
    await page.waitForFunction(() => document.querySelector<HTMLOutputElement>('#spoken')?.value !== '');
    expect(
      await page.evaluate(() => ({
        posted: document.querySelector<HTMLOutputElement>('#posted')?.value,
        spoken: document.querySelector<HTMLOutputElement>('#spoken')?.value,
        picture: document.querySelector('img')?.naturalWidth,
        color: getComputedStyle(document.querySelector('h1') ?? document.body).color,
      })),
    ).toEqual({ posted: 'echo: what the page posts', spoken: 'heard: what the page says', picture: 30, color: 'rgb(1, 2, 3)' });
    const protocols = await page.evaluate(() =>
      performance.getEntries().flatMap((entry) => ('nextHopProtocol' in entry ? [String(entry.nextHopProtocol)] : []))
    );
    expect(new Set(protocols)).toEqual(new Set(['h2']));
    expect(complaints).toEqual([]);
    expect(await target.closed).toBe(1000);
    expect(target.requests.toSorted()).toEqual(['GET /', 'GET /picture.svg', 'GET /script.js', 'GET /style.css', 'POST /echo', 'WebSocket /socket']);
    expect(target.spoken).toEqual(['what the page says']);
  });
});

describeWith('curl', 'curl', () => {
  /** Options that lead to the site. */
  const known = (secure: boolean): string[] => [
    '--resolve',
    `${site.name}:${secure ? site.server.secureHostsPort : site.server.hostsPort}:127.0.0.1`,
    '--cacert',
    site.certificate,
  ];

  test.each([['--http1.1', 'http', '1.1'], ['--http1.1', 'https', '1.1'], ['--http2', 'https', '2']] as const)(
    '%s over %s',
    async (version, scheme, spoken) => {
      const to = [version, ...known(scheme === 'https'), '-w', '\n%{http_version} %{http_code} %{num_connects}'];
      expect(await curl([...to, '-X', 'PUT', '--data-binary', 'some bytes', `${site[scheme]}/echo`])).toMatchObject({
        code: 0,
        stdout: `echo: some bytes\n${spoken} 200 1`,
      });
      // Two on one connection, the second without a length.
      expect(await curl([...to, '-T', '-', `${site[scheme]}/echo`, '--next', ...to, `${site[scheme]}/style.css`], 'a stream')).toMatchObject({
        code: 0,
        stdout: `echo: a stream\n${spoken} 200 1h1 { color: rgb(1, 2, 3) }\n${spoken} 200 0`,
      });
      expect(await curl([...to, '-I', `${site[scheme]}/missing`])).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(new RegExp(`^HTTP/${spoken.replace('.', '\\.')} 404[^]*\\n${spoken} 404 1$`)),
      });
    },
  );

  test.each([['--http1.1', 'http'], ['--http2', 'https']] as const)('sees each event before the next one is sent, %s over %s', async (version, scheme) => {
    const asked = target.events();
    const child = new Child(programPath('curl'), ['-q', '-sS', '-N', version, ...known(scheme === 'https'), `${site[scheme]}/events`]);
    const events = await asked;
    for (let id = 1; id <= 20; id++) {
      events.write(`data: number ${id}\n\n`);
      await child.says(new RegExp(`data: number ${id}\\n\\n$`));
    }
    events.end();
    expect(await child.exited).toEqual({ code: 0, signal: null });
  });
});
