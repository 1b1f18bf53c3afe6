import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Field } from '../../../src/engine/http/field.ts';
import { formatHead, parseRequestHead, parseResponseHead } from '../../../src/engine/http/head.ts';
import { plainAnswer } from '../../../src/engine/http/plain-answer.ts';
import { hostFields } from '../../../src/engine/vhost/target/host-fields.ts';
import { formatOwnResponse, httpsRedirect } from '../../../src/engine/vhost/response/own-response.ts';
import { fieldsForTarget } from '../../../src/engine/vhost/target/request-fields.ts';
import { acceptedResponse } from '../../../src/engine/vhost/response/password-page.ts';
import { octets } from '../../../src/rules/octets.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { sized } from '../../support/endurance.ts';
import { anyText, hold } from '../../support/outside-input.ts';

const runs = { numRuns: sized(200, 100_000) };
const LONG = sized(20_000, 600_000);

/** Characters whose low byte, or whose UTF-8, could be taken for a line end, and what else ends a line somewhere. */
const lineEnds = fc.constantFrom(
  '\u010d',
  '\u010a',
  '\u010d\u010a',
  '\u560d\u560a',
  '\r\n',
  '\n',
  '\r',
  '\0',
  '\u0085',
  '\u2028',
  '\ud800',
  '\ud83d\ude00',
  'X-Evil: 1',
  ': ',
  ' ',
);
const text = fc.oneof(
  anyText,
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.array(fc.oneof(lineEnds, fc.string({ maxLength: 4 })), { maxLength: 8 }).map((parts) => parts.join('')),
);

/** The names of a head's fields, which must be one request or response and nothing else. */
function namesOf(head: Buffer, parse: typeof parseRequestHead | typeof parseResponseHead): string[] {
  const parsed = parse(head);
  hold(parsed?.length === head.indexOf('\r\n\r\n') + 4, 'is one head');
  return parsed?.fields.map(({ name }) => name) ?? [];
}

test('no text in any field adds a line or a field to a head', () => {
  fc.assert(
    fc.property(text, text, (one, two) => {
      const fields = [Field.of('A', one), Field.of('B', octets(two)), Field.of('C', 'c')];
      hold(namesOf(formatHead('GET / HTTP/1.1', fields), parseRequestHead).join() === 'A,B,C', 'has its fields');
      hold(formatHead(`HTTP/1.1 200 ${one}`, fields).toString('latin1').split(/\r|\n|\0/).length === 11, 'has its lines');
    }),
    runs,
  );
}, LONG);

test('no text that can be configured for a host adds a line or a field to what its targets get', () => {
  const head = parseRequestHead(Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'));
  if (!head) throw new Error('the head has an end');
  const header = fc.oneof(text, text.map((value) => `X-Own: ${value}`));
  const own = new Set(['Host', 'X-Forwarded-For', 'X-Real-IP', 'X-Forwarded-Proto', 'X-Forwarded-Host']);
  fc.assert(
    fc.property(text, fc.array(header, { maxLength: 3 }), (hostChange, headers) => {
      const fields = fieldsForTarget(head, hostFields({ hostChange, headers }), { address: '192.0.2.1', scheme: 'http', host: 'a', trusted: false });
      const names = namesOf(formatHead('GET / HTTP/1.1', fields), parseRequestHead);
      const configured = headers.map((line) => line.slice(0, Math.max(0, line.indexOf(':'))).trim());
      hold(names.every((name) => own.has(name) || configured.includes(name)), 'has no field that nobody configured');
      hold(names.length <= own.size + headers.length, 'has no more fields');
    }),
    runs,
  );
}, LONG);

test('no text adds a line or a field to what the server answers by itself', () => {
  fc.assert(
    fc.property(text, text, (one, two) => {
      hold(
        namesOf(formatOwnResponse(httpsRedirect({ host: one, path: two }, 443), false), parseResponseHead).join() === 'Location,Content-Length',
        'a redirect has its fields',
      );
      hold(
        namesOf(formatOwnResponse(acceptedResponse(one, false), false), parseResponseHead).join() === 'Location,Content-Length,Cache-Control',
        'a way back has its fields',
      );
      hold(
        namesOf(plainAnswer(407, one, { closes: false, fields: [Field.of('X', two)] }), parseResponseHead).join()
          === 'Content-Type,Content-Length,Cache-Control,X',
        'a plain answer has its fields',
      );
    }),
    runs,
  );
}, LONG);

test('the value of a field has no spaces and tabs around it, however it was received', () => {
  for (const field of [Field.parse('A:\t b\tc \t'), Field.received('A', '\t b\tc \t')]) expect(field?.value).toBe('b\tc');
});

test("a name that can't be one is no field", () => {
  fc.assert(
    fc.property(text, (name) => {
      const sound = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name);
      hold((Field.received(name, 'x') !== undefined) === sound, 'is a field if its name can be one');
      let made = true;
      try {
        Field.of(name, 'x');
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
        made = false;
      }
      hold(made === sound, 'is made if its name can be one');
    }),
    runs,
  );
}, LONG);
