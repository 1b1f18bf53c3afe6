import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { GraphQLError, isScalarType, isSpecifiedScalarType } from 'graphql';
import { parseAgentConfig } from '../../src/agent/config/parse-config.ts';
import { parseRequestHead } from '../../src/engine/http/head.ts';
import { HttpSyntaxError } from '../../src/engine/http/syntax-error.ts';
import { parseGreeting, parseRequest as parseSocksRequest, SocksError } from '../../src/engine/socks/messages.ts';
import { afterMessage } from '../../src/engine/health/reported-health.ts';
import { readClientHello } from '../../src/engine/vhost/tls/client-hello.ts';
import { readProxyPreface } from '../../src/engine/vhost/proxy-preface.ts';
import { routes } from '../../src/legacy/routes.ts';
import { createSignatureCheck } from '../../src/legacy/signature.ts';
import { Attempts } from '../../src/rules/attempts.ts';
import { canonicalBindAddress } from '../../src/rules/bind-address.ts';
import { parseExpireTime } from '../../src/rules/expire-time.ts';
import { hostLocation } from '../../src/rules/host-location.ts';
import { hostOfUrl, hostPattern, requestedHost } from '../../src/rules/host-name.ts';
import { AddressSet, turnedAwayBy } from '../../src/rules/ip-access.ts';
import { cleanIpList } from '../../src/rules/ip-list.ts';
import { platformPrefix, platformWildcard } from '../../src/rules/platform-domain.ts';
import { LogLevelsError, parseLogLevels } from '../../src/rules/log-levels.ts';
import { parsePortRanges, PortRangeError } from '../../src/rules/port-range.ts';
import { resolvedPath, routedLocation, routedPath } from '../../src/rules/request-path.ts';
import { setsSessionCookie, withoutSessionCookies } from '../../src/rules/session-cookie.ts';
import { dialTargets, malformedTarget, parseTarget, targetLines } from '../../src/rules/targets.ts';
import { clientColumns } from '../../src/schema/client/input.ts';
import { Problems } from '../../src/schema/values/problems.ts';
import { routeQuestion } from '../../src/schema/diagnosis/route.ts';
import { AditError } from '../../src/schema/errors.ts';
import { headersOf, hostChangeOf } from '../../src/schema/host/input.ts';
import { platformEntries } from '../../src/schema/platform-domain/input.ts';
import { schema } from '../../src/schema/schema.ts';
import { tunnelColumns } from '../../src/schema/tunnel/input.ts';
import { newPassword, userColumns } from '../../src/schema/user/input.ts';
import { readAgentOptions } from '../../src/settings/agent-options.ts';
import { fileKey, flagName, infoOf, settingNames, settingsSchema } from '../../src/settings/settings.ts';
import { SettingsError } from '../../src/settings/settings-error.ts';
import { environmentSource, fileSource, readSource } from '../../src/settings/sources.ts';
import { readVisitOptions } from '../../src/settings/visit-options.ts';
import { declarationSchema } from '../../src/wire/declaration.ts';
import { healthMessage } from '../../src/wire/health.ts';
import { isShort, sized } from '../support/endurance.ts';
import { corpus, keepInput, keptInputs } from '../support/fuzz/corpus.ts';
import { anyText, cases, hostileLength, hostileTextMs, hostileTexts, parsed, type Refusal } from '../support/outside-input.ts';
import { threadTime } from '../support/thread-time.ts';
import { schemaSettings } from '../support/schema-settings.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Everything that reads what comes from outside: its name, how it reads a text, how it refuses one, and of how many texts it is given one. */
type Parser = readonly [name: string, read: (text: string) => unknown, refusal?: Refusal, oneOf?: number];

/** For what takes a hundred times as long as the others, because it writes a file or makes 32 KB of each text. */
const oneOfMany = sized(20, 1);

const tomlFile = path.join(temporaryDirectory(), 'adit.toml');
/** For what is not to be kept. */
const elsewhere = temporaryDirectory();

/** Those that differ in nothing but their names, once. */
const parameters = new Map(
  routes.flatMap((route) =>
    Object.entries(route.parameters).map((
      [name, { read, kind, choices, maximum }],
    ): [string, Parser] => [JSON.stringify([String(read), kind, choices, maximum]), [`the parameter ${name} of ${route.path}`, (text) =>
      read(text, name), AditError]]
    )
  ),
).values();

const scalars = Object.values(schema.getTypeMap()).filter(isScalarType).filter((type) => !isSpecifiedScalarType(type)).flatMap((type): Parser[] => [
  [`the scalar ${type.name} given a text`, (text) => type.parseValue(text), GraphQLError],
  [`the scalar ${type.name} given something else`, (text) => type.parseValue(somethingElse(text)), GraphQLError],
]);

/** What JSON and TOML can hold beside texts. */
function somethingElse(text: string): unknown {
  const values = [Number.parseFloat(text), text.length, -text.length, [text], { text }, null, true, new Date(text)];
  return values[text.length % values.length];
}

/** The settings of each kind differ in their names only. What a source's values are refused with are lines, not errors. */
const kinds = new Map(settingNames.map((name) => [infoOf(name).value, name])).values();
const sources = [...kinds].map((name): Parser => [`the flag ${flagName(name)}`, (text) => settingsSchema.shape[name].safeParse(text)]);
const otherValues: Parser = ['a setting that is no text', (text) => {
  const name = settingNames[text.length % settingNames.length] ?? 'dataDir';
  return readSource({ label: 'file', spell: fileKey, values: { [fileKey(name)]: somethingElse(text) } }, []);
}];

/** Runs the checks of an input as a mutation does. */
function whole(check: (problems: Problems) => unknown): void {
  const problems = new Problems();
  check(problems);
  problems.end();
}

const inputs: Parser[] = [
  [
    'the input of a client',
    (text) =>
      whole((problems) =>
        clientColumns(problems, { kind: 'anonymous' }, {
          verifyKey: text,
          remark: text,
          basicUser: text,
          basicPassword: text,
          blocklist: [text, text],
          allowlistPassword: text,
          allowlist: [text],
        })
      ),
    AditError,
  ],
  ['the remark of a client', (remark) => whole((problems) => clientColumns(problems, { kind: 'anonymous' }, { remark })), AditError],
  [
    'the address lists of a client',
    (text) => whole((problems) => clientColumns(problems, { kind: 'anonymous' }, { blocklist: [text], allowlist: text.split('\n') })),
    AditError,
  ],
  ['the targets of a tunnel', (text) => whole((problems) => tunnelColumns(problems, { targets: [text, text] }, schemaSettings)), AditError],
  ['the address of a tunnel', (serverIp) => whole((problems) => tunnelColumns(problems, { serverIp }, schemaSettings)), AditError],
  [
    'other texts of a tunnel',
    (text) => whole((problems) => tunnelColumns(problems, { remark: text, password: text, localPath: text, stripPrefix: text }, schemaSettings)),
    AditError,
  ],
  ['the name of a user', (username) => whole((problems) => userColumns(problems, { username }, schemaSettings)), AditError],
  ['the password of a user', (password) => newPassword({ password }), AditError],
  ['the headers of a host', (text) => headersOf('headers', [text]), AditError],
  ['the Host header of a host', (text) => hostChangeOf('hostChange', text), AditError],
  [
    'platform domains',
    (text) =>
      whole((problems) =>
        platformEntries(problems, [{ id: text, wildcard: text, certificatePath: text, privateKeyPath: text }, { wildcard: `*.${text}` }], [])
      ),
    AditError,
  ],
  ['the question of a diagnosis', (text) => routeQuestion(text, text, 'http'), AditError],
  ['the path of a diagnosis', (text) => routeQuestion('a.com', `/${text}`, 'http'), AditError],
];

const rules: Parser[] = [
  ['expire_time', parseExpireTime],
  ['an address list', (text) => cleanIpList([text])],
  ['a target', parseTarget],
  ['targets', (text) => [targetLines([text]), malformedTarget([text]), dialTargets(text)]],
  ['port ranges', parsePortRanges, PortRangeError],
  ['log levels', parseLogLevels, LogLevelsError],
  ['a host pattern', hostPattern],
  ['a requested host', requestedHost],
  ['the host of a URL', hostOfUrl],
  ['a location', hostLocation],
  ['a path', (text) => [resolvedPath(`/${text}`), routedPath(`/${text}`), routedLocation(`/${text}`)]],
  ['the path of the longest head', (text) => resolvedPath(`/${text}/..`.repeat(Math.max(1, Math.floor(32_768 / (text.length + 4))))), undefined, oneOfMany],
  ['cookies', (text) => [withoutSessionCookies(`${text}; beegosessionID=${text}`), setsSessionCookie(`${text}beegosessionID=${text}`)]],
  ['a platform pattern', platformWildcard],
  ['a platform prefix', platformPrefix],
  ['a bind address', canonicalBindAddress],
  [
    "a visitor's address",
    (text) =>
      turnedAwayBy(text, { globalBlackList: AddressSet.of([text]), ipWhite: true, whiteList: AddressSet.of([`${text}/8`]), blackList: AddressSet.of([]) }),
  ],
  ['the source of an attempt', (text) => new Attempts().begin('login', text, text, 0)],
  ['a signature', (text) => createSignatureCheck('key', () => 0)(new Map([['auth_key', text], ['timestamp', text]]))],
  ['the timestamp of a signature', (text) => createSignatureCheck('key', () => 0)(new Map([['auth_key', 'x'], ['timestamp', text]]))],
];

const programs: Parser[] = [
  ['the options of an agent', (text) => readAgentOptions({ server: text, vkey: text }, { ADIT_LOG_LEVEL: text }), SettingsError],
  ["an agent's configuration file", parseAgentConfig],
  [
    "a value of an agent's configuration file",
    (text) =>
      parseAgentConfig(
        `server = ${JSON.stringify(text)}\n[hosts.${JSON.stringify(text)}]\nhost = ${JSON.stringify(text)}\ntargets = [${JSON.stringify(text)}]`,
      ),
  ],
  ['the health that an agent tells of', (text) => {
    const { data } = healthMessage.safeParse({
      type: 'health',
      of: 'tunnel',
      id: text.length,
      check: { type: 'http', intervalMs: 1000, timeoutMs: 1000, maxFailed: 1, path: text },
      targets: [{ target: text, healthy: false, failures: text.length, ageMs: text.length, error: text }],
    });
    return data && afterMessage(undefined, data, [text], 0)?.state([text]);
  }],
  ['what an agent declares', (text) => declarationSchema.safeParse({ type: 'tunnel', name: text, tunnel: { mode: text, port: text.length, targets: [text] } })],
  ["an agent's server", (server) => readAgentOptions({ server, vkey: 'k' }, {}), SettingsError],
  ["the file of an agent's key", (text) => readAgentOptions({ server: 'h:1', vkeyFile: `/nowhere/${text}` }, {}), SettingsError],
  [
    'the options of a visitor',
    (text) => readVisitOptions({ server: text, type: 'secret', password: text, listen: text, tlsFingerprint: text }, {}),
    SettingsError,
  ],
  ["a visitor's port", (listen) => readVisitOptions({ server: 'h:1', type: 'secret', password: 'p', listen }, {}), SettingsError],
  ['the environment', (text) => readSource(environmentSource({ [`ADIT_${text}`]: text }), [])],
  [
    'the settings file',
    (text) => {
      writeFileSync(tomlFile, text);
      return readSource(fileSource(tomlFile), []);
    },
    SettingsError,
    oneOfMany,
  ],
];

/** What visitors of tunnels and hosts send first. */
const visitors: Parser[] = [
  ['the head of a request', (text) => parseRequestHead(Buffer.from(`${text}\r\n\r\n`)), HttpSyntaxError],
  ['a field of a request', (text) => parseRequestHead(Buffer.from(`GET / HTTP/1.1\r\nHost: ${text}\r\n\r\n`)), HttpSyntaxError],
  ['the greeting of SOCKS', (text) => parseGreeting(Buffer.from(`\x05${text}`, 'latin1')), SocksError],
  ['the request of SOCKS', (text) => parseSocksRequest(Buffer.from(`\x05\x01\0\x03${text}`, 'latin1')), SocksError],
  ['the PROXY protocol, version 1', (text) => readProxyPreface(Buffer.from(`PROXY ${text}\r\n`, 'latin1'))],
  ['the PROXY protocol, version 2', (text) => readProxyPreface(Buffer.from(`\r\n\r\n\0\r\nQUIT\n${text}`, 'latin1'))],
  ['the first bytes of TLS', (text) => readClientHello(Buffer.from(`\x16\x03\x01${text}`, 'latin1'))],
];

const parsers: readonly Parser[] = [...visitors, ...parameters, ...scalars, ...sources, otherValues, ...inputs, ...rules, ...programs];

// Most cases end in an error, and its stack is what takes longest.
Error.stackTraceLimit = 0;

/** @throws {Error} that names the parser and the text, which the corpus has then, when it is neither read nor refused cleanly */
function readAll(texts: readonly string[], [name, read, refusal]: Parser, directory = corpus): void {
  for (const text of texts) {
    try {
      parsed(() => read(text), refusal, hostileTextMs);
    } catch (error) {
      const given = `${name}, given ${JSON.stringify(text.slice(0, 200))} (${text.length} characters)`;
      if (keptInputs(name, z.string(), directory).includes(text)) throw new Error(given, { cause: error });
      throw new Error(`${given}: now in ${keepInput(name, text, String(error), directory)}`, { cause: error });
    }
  }
}

test('every parser reads or refuses the inputs that failed before', () => {
  for (const parser of parsers) readAll(keptInputs(parser[0], z.string()), parser);
  expect(new Set(parsers.map(([name]) => name)).size).toBe(parsers.length);
});

/** In `npm test`, fewer: what parsers have in common is in `test/rules`, too. */
const sampled = isShort ? { numRuns: 100 } : cases;

test(`every parser reads or refuses ${sampled.numRuns} texts: it throws nothing but its own error, and does not take long`, () => {
  const texts = fc.sample(anyText, sampled);
  for (const parser of parsers) {
    const [, , , oneOf = 1] = parser;
    readAll(oneOf === 1 ? texts : texts.filter((_, index) => index % oneOf === 0), parser);
  }
  expect(parsers.length).toBeGreaterThan(routes.length);
});

test(`every parser takes less than ${hostileTextMs} ms for ${hostileLength} characters of what makes matchers go back`, () => {
  for (const parser of parsers) readAll(hostileTexts, parser);
  expect(hostileTexts.every((text) => text.length >= hostileLength)).toBe(true);
});

test('a parser that throws something else, or takes too long, would be found out, and its input kept', () => {
  expect(() =>
    readAll(
      ['1'],
      ['broken', () => {
        throw new TypeError('x');
      }, AditError],
      elsewhere,
    )
  ).toThrow('broken, given "1" (1 characters)');
  expect(keptInputs('broken', z.string(), elsewhere)).toEqual(['1']);
  let reads = 0;
  expect(() =>
    readAll(
      ['1'],
      ['slow', () => {
        // Only the second time must be the processor's.
        if (++reads === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1.1 * hostileTextMs);
        const end = threadTime() + (reads === 1 ? 0 : hostileTextMs);
        while (threadTime() < end);
      }],
      elsewhere,
    )
  ).toThrow(/^slow/);
});
