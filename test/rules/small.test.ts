import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { generate } from 'selfsigned';
import { acmeFault } from '../../src/rules/acme-name.ts';
import { addBytes, byteCount, MOST_BYTES } from '../../src/rules/byte-count.ts';
import { belongTogether, CertificateFault, certificateFacts, certificatePair, isPem, keyFault } from '../../src/rules/certificate.ts';
import { installCommand, trustedApi } from '../../src/rules/enrolment.ts';
import { isPast } from '../../src/rules/expiry.ts';
import { parseFingerprint } from '../../src/rules/fingerprint.ts';
import { isHeaderLine, isHostHeader } from '../../src/rules/header-line.ts';
import { hostLocation } from '../../src/rules/host-location.ts';
import { hostPattern } from '../../src/rules/host-name.ts';
import { routesOverlap, sameRoute } from '../../src/rules/host-overlap.ts';
import { formatHostPort, parseHostPort } from '../../src/rules/host-port.ts';
import { canonicalAddress, networkOf } from '../../src/rules/ip-address.ts';
import { StoredIpList } from '../../src/rules/ip-list.ts';
import { parseBasic, sameLogin, sameSecret } from '../../src/rules/login.ts';
import { accountFault, joinAccounts, splitAccounts } from '../../src/rules/proxy-accounts.ts';
import { coversPublicSuffix } from '../../src/rules/public-suffix.ts';
import { formatServerList, parseServerList } from '../../src/rules/server-list.ts';
import { shellWord } from '../../src/rules/shell-word.ts';
import { keyedModes, proxyHeaderModes, proxyProtocols, transportOf, tunnelModes } from '../../src/rules/tunnel-mode.ts';
import { refusals } from '../../src/rules/visitor-refusals.ts';
import { visitorKeyOf } from '../../src/rules/vkey.ts';
import { bridge, covering, makeCertificate } from '../support/certificates.ts';

/*
 * Rules of a few lines: what each accepts and refuses, at its limits and one beyond.
 */

/** A name with so many characters. */
const name = (length: number) => `${'a.'.repeat(length / 2 - 1)}${'b'.repeat(length % 2 + 2)}`;

describe('names and addresses', () => {
  test.each([
    ['a.example', ''],
    [`${'a'.repeat(63)}.example`, ''],
    [`${'a'.repeat(64)}.example`, 'only for a name of letters, digits and hyphens'],
    ['a_b.example', 'only for a name of letters, digits and hyphens'],
    ['a-.example', 'only for a name of letters, digits and hyphens'],
    [name(240), ''],
    [name(241), 'only for a name of at most 240 characters'],
    ['*.example.com', 'not for a wildcard'],
    ['192.0.2.1', 'not for an address'],
    ['2001:db8::1', 'not for an address'],
    ['localhost', 'only for a name with a dot'],
  ])('ACME for %s: %j', (host, fault) => expect(acmeFault(host)).toBe(fault));

  test.each([
    [name(253), name(253)],
    [name(254), undefined],
    [`*.${name(251)}`, `*.${name(251)}`],
    [`*.${name(252)}`, undefined],
    [`${'a'.repeat(63)}.b`, `${'a'.repeat(63)}.b`],
    [`${'a'.repeat(64)}.b`, undefined],
  ])('the host of a rule %j is %j', (text, host) => expect(hostPattern(text)).toBe(host));

  test.each([
    ['a.example:80', { host: 'a.example', port: 80 }, 'a.example:80'],
    ['[2001:db8::1]:65535', { host: '2001:db8::1', port: 65535 }, '[2001:db8::1]:65535'],
    ['a:0', { host: 'a', port: 0 }, 'a:0'],
    ['a:65536', undefined, ''],
    ['a:123456', undefined, ''],
    ['80', undefined, ''],
    ['a', undefined, ''],
    ['a/b:80', undefined, ''],
    [':80', undefined, ''],
  ])('the address %j', (text, address, written) => {
    expect(parseHostPort(text)).toEqual(address);
    if (address) expect(formatHostPort(address)).toBe(written);
  });

  test('a port alone has the host that is given for it', () => {
    expect([parseHostPort('80', '::1'), parseHostPort('b:80', '::1')]).toEqual([{ host: '::1', port: 80 }, { host: 'b', port: 80 }]);
  });

  test('a list of servers has 16 at most, each with a port', () => {
    const list = (count: number) => Array.from({ length: count }, (_, index) => `h${index}:${index + 1}`).join(',');
    expect([parseServerList(list(16))?.length, parseServerList(list(17))]).toEqual([16, undefined]);
    const parsed = parseServerList(' a:1 , [::1]:2') ?? [];
    expect(parsed).toEqual([{ host: 'a', port: 1 }, { host: '::1', port: 2 }]);
    expect(formatServerList(parsed)).toBe('a:1,[::1]:2');
    for (const text of ['', 'a:1,', 'a:1,b:0', 'a:1,b', 'a:1;b:2']) expect([text, parseServerList(text)]).toEqual([text, undefined]);
  });

  test('an address has one spelling, and a network that counts as one caller', () => {
    const spellings = [' 192.0.2.1 ', '::FFFF:192.0.2.1', '2001:DB8:0::1', '::1%a:b', '192.0.2', 'a'].map((text) => canonicalAddress(text));
    expect(spellings).toEqual(['192.0.2.1', '192.0.2.1', '2001:db8::1', undefined, undefined, undefined]);
    expect(networkOf('2001:db8:1:2ff:3::4', 56)).toBe('2001:db8:1:200::/56');
    expect(networkOf('2001:db8:1:2ff:3::4', 64)).toBe('2001:db8:1:2ff::/64');
    expect([networkOf('192.0.2.1', 56), networkOf('::ffff:192.0.2.1', 56), networkOf('a:b', 56)]).toEqual(['192.0.2.1', '192.0.2.1', 'a:b']);
  });

  test('a wildcard of unrelated owners is recognized', () => {
    const patterns = ['*.com', '*.co.uk', '*.github.io', '*.localdomain', '*.ck', '*.a.ck', '*.a_b', '*.example.com', '*.a.github.io', 'com', 'github.io'];
    expect(patterns.filter(coversPublicSuffix)).toEqual(['*.com', '*.co.uk', '*.github.io', '*.localdomain', '*.ck', '*.a.ck', '*.a_b']);
  });
});

describe('rules of hosts', () => {
  test('a location has no DEL', () => expect([hostLocation('/a\x7f'), hostLocation('/a\x7e')]).toEqual([undefined, '/a~']));

  test('rules are the same, or overlap, by host, location and scheme', () => {
    const rule = { host: 'a.b', location: '/a', scheme: 'all' } as const;
    const others = [
      rule,
      { ...rule, scheme: 'http' },
      { ...rule, location: '/a/' },
      { ...rule, location: '/' },
      { ...rule, location: '/a/b' },
      { ...rule, location: '/ab' },
      { ...rule, host: '*.b' },
      { ...rule, host: 'b.b' },
    ] as const;
    expect(others.map((other) => [sameRoute(rule, other), routesOverlap(rule, other), routesOverlap(other, rule)])).toEqual([
      [true, true, true],
      [true, true, true],
      [true, true, true],
      [false, true, true],
      [false, true, true],
      [false, false, false],
      [false, true, true],
      [false, false, false],
    ]);
    const [http, https] = [{ ...rule, scheme: 'http' }, { ...rule, scheme: 'https' }] as const;
    expect([sameRoute(http, https), routesOverlap(http, https), sameRoute(https, rule)]).toEqual([false, false, true]);
  });

  test('a header is a name and a value without control characters; a Host header has no space', () => {
    expect(['A: b', 'a:', 'X-A\t: \tb', 'A: é'].filter((line) => !isHeaderLine(line))).toEqual([]);
    expect(['A', ': b', 'A b: c', 'A: b\r\nC: d', 'A: \x7f', 'A: \0', ''].filter(isHeaderLine)).toEqual([]);
    expect(['', 'a.example:80'].filter((text) => !isHostHeader(text))).toEqual([]);
    expect(['a b', 'é', 'a\r'].filter(isHostHeader)).toEqual([]);
  });
});

describe('secrets', () => {
  test('a visitor names a client by the MD5 of its key', () => {
    expect(visitorKeyOf('abc')).toBe('900150983cd24fb0d6963f7d28e17f72');
  });

  test.each([
    ['Basic YTpi', { user: 'a', password: 'b' }],
    ['basic  YTpiOmM=', { user: 'a', password: 'b:c' }],
    ['Basic OsOp', { user: '', password: 'é' }],
    ['Basic YWI=', undefined],
    ['Basic ', undefined],
    ['Basic YTpi=x', undefined],
    ['Bearer YTpi', undefined],
  ])('%j has the login %j', (text, login) => expect(parseBasic(text)).toEqual(login));

  test('a login is right if name and password are', () => {
    const wanted = { user: 'a', password: 'b' };
    expect([wanted, { user: 'a', password: 'a' }, { user: 'b', password: 'b' }, { user: 'b', password: 'a' }].map((login) => sameLogin(login, wanted)))
      .toEqual([true, false, false, false]);
    expect([sameSecret('é', 'é'), sameSecret('é', 'e'), sameSecret('', 'a')]).toEqual([true, false, false]);
  });

  test('an account of a proxy has a name without colon, and 255 bytes at most for each part', () => {
    const fault = (user: string, password: string) => accountFault({ user, password });
    expect([fault('a', ''), fault('é'.repeat(127), 'é'.repeat(127)), fault('a'.repeat(255), 'a'.repeat(255))]).toEqual(['', '', '']);
    expect(fault('', 'a')).toBe('the user name is empty');
    expect(fault('a:b', 'a')).toBe('the user name holds a colon');
    expect(fault('a'.repeat(256), 'a')).toBe('the user name is longer than 255 bytes');
    expect(fault('a', 'é'.repeat(128))).toBe('the password is longer than 255 bytes');
    expect([fault('a\0', 'a'), fault('a', 'a\0')]).toEqual(Array.from({ length: 2 }, () => 'it holds a NUL character'));
    const accounts = [{ user: 'a', password: 'b' }, { user: 'c', password: '' }];
    expect([splitAccounts(joinAccounts(accounts)), joinAccounts([]), splitAccounts('')]).toEqual([accounts, '', []]);
  });

  test('a fingerprint has 64 hex digits in any spelling', () => {
    const digits = '0123456789abcdef'.repeat(4);
    for (const text of [digits, ` SHA256:${digits.toUpperCase()} `, `sha-256=${digits}`, digits.replaceAll(/..(?=.)/g, '$&:')]) {
      expect([text, parseFingerprint(text)]).toEqual([text, digits]);
    }
    for (const text of ['', digits.slice(1), `${digits}0`, `md5:${digits}`, digits.replace('0', 'g')]) {
      expect([text, parseFingerprint(text)]).toEqual([text, undefined]);
    }
  });

  test('a word is quoted for a shell if it needs that', () => {
    expect(['a-b_1.2:/@,+', '', 'a b', "it's", '$x', 'a=b'].map(shellWord)).toEqual(['a-b_1.2:/@,+', "''", "'a b'", String.raw`'it'\''s'`, "'$x'", "'a=b'"]);
  });
});

describe('where agents are installed from', () => {
  const place = { publicUrl: '', basePath: '/base', ownTls: { port: 8443, pin: 'sha256//x' } };
  test.each([
    [{ ...place, publicUrl: 'https://a.example' }, '', { url: 'https://a.example/base', pin: 'sha256//x' }],
    [{ ...place, publicUrl: 'https://a.example:8443/other//' }, 'b', { url: 'https://a.example:8443/other', pin: 'sha256//x' }],
    [{ ...place, publicUrl: 'https://a.example', ownTls: undefined }, '', { url: 'https://a.example/base', pin: '' }],
    [{ ...place, publicUrl: 'http://a.example' }, 'b.example', { url: 'https://b.example:8443/base', pin: 'sha256//x' }],
    [{ ...place, ownTls: { port: 443, pin: '' } }, '2001:db8::1', { url: 'https://[2001:db8::1]/base', pin: '' }],
    [place, '', undefined],
    [{ ...place, ownTls: undefined }, 'b.example', undefined],
  ])('%j and the name %j: %j', (api, serverName, trusted) => expect(trustedApi(api, serverName)).toEqual(trusted));

  test('the command pins the key of a server whose certificate no authority has signed', () => {
    expect(installCommand({ url: 'https://a', pin: '' }, 'code')).toBe("curl -fsSL 'https://a/agent/install.sh' | sh -s -- code");
    expect(installCommand({ url: 'https://a', pin: 'sha256//x' }, 'code'))
      .toBe("curl -fsSL --insecure --pinnedpubkey 'sha256//x' 'https://a/agent/install.sh' | sh -s -- code");
  });
});

describe('numbers and times', () => {
  test('bytes are whole numbers up to the largest that is exact', () => {
    expect([1.9, '7', 8n, -1, Number.NaN, 'x', undefined, Infinity, 2 ** 60].map(byteCount)).toEqual([1, 7, 8, 0, 0, 0, 0, MOST_BYTES, MOST_BYTES]);
    expect(MOST_BYTES).toBe(9_007_199_254_740_991);
    expect([addBytes(1, 2), addBytes(MOST_BYTES - 1, 1), addBytes(MOST_BYTES, 1)]).toEqual([3, MOST_BYTES, MOST_BYTES]);
  });

  test('an expiry has passed from its millisecond on; none never has', () => {
    expect([isPast(new Date(5), 4), isPast(new Date(5), 5), isPast(null, 5)]).toEqual([false, true, false]);
  });
});

test('each mode of tunnels has its transport, or is found by its password', () => {
  expect(tunnelModes.map((mode) => [mode, transportOf(mode), keyedModes.includes(mode), proxyHeaderModes.includes(mode)])).toEqual([
    ['tcp', 'tcp', false, true],
    ['udp', 'udp', false, false],
    ['httpProxy', 'tcp', false, false],
    ['socks5', 'tcp', false, false],
    ['secret', undefined, true, true],
    ['p2p', undefined, true, false],
    ['file', 'tcp', false, false],
  ]);
  expect([transportOf('other'), ...proxyProtocols]).toEqual([undefined, '', 'V1', 'V2']);
});

test('each refusal has its status, and a title and a text of its own', () => {
  expect(Object.fromEntries(Object.entries(refusals).map(([name, { status }]) => [name, status]))).toEqual({
    malformed: 400,
    forbidden: 403,
    unauthorized: 401,
    notListed: 401,
    wrongPassword: 401,
    noRoute: 404,
    timeout: 408,
    misdirected: 421,
    tooMany: 429,
    tooManyTries: 429,
    tooLarge: 431,
    notImplemented: 501,
    refused: 502,
    offline: 503,
    unread: 503,
    unhealthy: 503,
    exhausted: 503,
    silent: 504,
    version: 505,
  });
  const texts = Object.values(refusals).flatMap(({ title, text }) => [title, text]);
  expect(texts.filter((text) => !/^[A-Z].{5}/.test(text))).toStrictEqual([]);
  expect(new Set(texts).size).toBe(texts.length);
});

test('a long list of addresses is written in parts that end with an address', () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `198.18.${index >> 8}.${index & 255}`);
  const list = new StoredIpList(lines.join('\n'));
  const parts = [...list.parts()];
  expect(parts.flat()).toEqual(lines);
  for (const part of parts.slice(0, -1)) {
    const { length } = part.join('\n');
    expect(length >= 65_536 && length - (part.at(-1)?.length ?? 0) <= 65_536).toBe(true);
  }
  expect([[...list], JSON.parse(JSON.stringify(list))]).toEqual([lines, lines]);
  expect([list.long, new StoredIpList('a'.repeat(65_536)).long, new StoredIpList('a'.repeat(65_537)).long]).toEqual([true, false, true]);
  expect([[...new StoredIpList('').parts()], [...new StoredIpList('')], [...new StoredIpList('a\nb').parts()]]).toEqual([[], [], [['a', 'b']]]);
});

describe('a certificate', () => {
  test('is described by its names, its issuer, its dates and its fingerprint', async () => {
    const { certificate } = await makeCertificate(['a.example', '*.b.example', '192.0.2.1']);
    const { x509, validFrom, validTo, description } = certificateFacts(certificate);
    const { fingerprint256, issuer, validFrom: from, validTo: to } = new X509Certificate(certificate);
    expect(description).toEqual({
      names: ['a.example', '*.b.example', '192.0.2.1'],
      issuer: issuer.replace(/^.*CN=/s, '').split('\n', 1)[0],
      validFrom: new Date(from),
      validTo: new Date(to),
      fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
    });
    expect([validFrom, validTo, x509.fingerprint256]).toEqual([new Date(from), new Date(to), fingerprint256]);
    expect([isPem(certificate), isPem('/a/certificate')]).toEqual([true, false]);
  });

  test('has the issuer by its common name, or else by its whole name, in 255 characters at most, and 100 names', async () => {
    const described = async (attributes: Parameters<typeof generate>[0], names: readonly string[] = ['a.example']) => {
      const { cert } = await generate(attributes, {
        keyType: 'ec',
        curve: 'P-256',
        algorithm: 'sha256',
        extensions: [{ name: 'subjectAltName', altNames: names.map((value) => ({ type: 2, value })) }],
      });
      return certificateFacts(cert).description;
    };
    const organization = { name: 'organizationName', value: 'Example' };
    expect(await described([organization, { name: 'commonName', value: 'An authority' }])).toMatchObject({ issuer: 'An authority' });
    expect(await described([{ name: 'countryName', value: 'DE' }, organization])).toMatchObject({ issuer: 'C=DE, O=Example' });
    expect((await described(Array.from({ length: 6 }, () => ({ name: 'organizationName', value: 'o'.repeat(60) })))).issuer).toMatch(
      /^(O=o{60}, ){3}O=o{60},$/,
    );
    const names = Array.from({ length: 101 }, (_, index) => `${index}.example`);
    expect((await described([organization], names)).names).toEqual(names.slice(0, 100));
  });

  test('needs a key of a supported type', () => {
    const key = (make: { readonly publicKey: KeyObject }) => keyFault(make.publicKey);
    const curve = (namedCurve: string) => key(generateKeyPairSync('ec', { namedCurve }));
    expect(['P-256', 'P-384', 'P-521'].map(curve)).toEqual(['', '', '']);
    expect(curve('secp256k1')).toBe('the curve secp256k1 is not supported; use P-256, P-384 or P-521');
    expect([key(generateKeyPairSync('rsa', { modulusLength: 1024 })), key(generateKeyPairSync('rsa-pss', { modulusLength: 1024 }))]).toEqual(['', '']);
    expect(key(generateKeyPairSync('ed25519'))).toBe('');
    expect(key(generateKeyPairSync('x25519'))).toBe('the type of the key is not supported; use RSA, ECDSA or Ed25519');
  });

  test('comes with its key, neither of them blank', () => {
    const { certificate, key } = covering;
    expect(createPrivateKey(certificatePair(certificate, key).privateKey).equals(createPrivateKey(key))).toBe(true);
    for (const [one, two] of [[' \n', key], [certificate, ' \n']] as const) expect(() => certificatePair(one, two)).toThrow(new CertificateFault('empty'));
    expect(() => certificatePair(certificate, bridge.key)).toThrow(new CertificateFault('unusable pair'));
    expect(() => certificatePair('x', key)).toThrow(new CertificateFault('cannot parse'));
    const { x509 } = certificateFacts(certificate);
    expect([belongTogether(x509, key), belongTogether(x509, bridge.key), belongTogether(x509, 'x')]).toEqual([true, false, false]);
  });
});
