import path from 'node:path';
import ipaddr from 'ipaddr.js';
import * as z from 'zod';
import { parsePortRanges, PortRangeError } from '../rules/port-range.ts';
import { integer } from './shared-values.ts';

/**
 * The types of setting values. Each accepts the texts of flags and environment variables as well as the native
 * values of TOML. Its message completes the sentence "<setting>: must be ...".
 */

/** A port to listen on; 0 = the system picks a free one. */
export const port = integer(0, 65535, 'a port (0 = any free one)');

/** A port, or '' = none. */
export const optionalPort = z.union([z.literal(''), port], { error: 'must be a port (0 = any free one) from 0 to 65535, or empty' });

/** true or false. */
export const boolean = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')], { error: 'must be true or false' });

/** A text that isn't empty. */
export const text = z.string('must be a text').min(1, 'must not be empty').max(255, 'must be at most 255 characters long');

/** A file or directory; a relative path is resolved from the working directory. */
export const filePath = z.string('must be a path').min(1, 'must not be empty').transform((file) => path.resolve(file));

/** An optional path, resolved likewise; "" = none. */
export const optionalFilePath = z.union([z.literal(''), filePath], { error: 'must be a path' });

/** An address or host name to listen on. */
export const host = text.regex(/^[\w.:%-]+$/, 'must be an IP address or a host name, without a port');

/** The same, or "". */
export const optionalHost = z.union([z.literal(''), host], { error: 'must be an IP address or a host name, without a port' });

/** An IP address, or "". */
export const optionalIp = z.union([z.literal(''), z.ipv4(), z.ipv6()], { error: 'must be an IP address' });

/** The name of a node, or "". */
export const nodeName = z.string('must be a text').regex(/^[\w.-]{0,63}$/, 'must be at most 63 letters, digits, dots, hyphens or underscores');

/** An HTTPS URL that the server connects to. */
export const httpsUrl = z.url({ protocol: /^https$/, error: 'must be a URL that begins with https://' }).max(1000, 'must be at most 1000 characters long');

const webUrlError = 'must be empty, or a URL that begins with https:// or http://, at most 255 characters long';

/** A web URL for people; "" = none. */
export const webUrl = z.union([z.literal(''), z.url({ protocol: /^https?$/, error: webUrlError }).max(255, webUrlError)], { error: webUrlError });

/** An e-mail address; "" = none. */
export const email = z.union([z.literal(''), z.email('must be an e-mail address')], { error: 'must be an e-mail address' });

/** A path prefix; "" = none. It begins with a slash and doesn't end with one. */
export const basePath = z.string('must be a text').regex(
  /^(\/[\w.~-]+)*$/,
  'must be empty, or a path like /adit that begins with a slash and ends without one',
);

/** IP addresses and networks (`10.0.0.0/8`): an array, or a text separated by commas. */
export const networks = z.union([z.array(z.string()), z.string().transform(splitAtCommas)], { error: 'must be a list of IP addresses and networks' })
  .pipe(
    z.array(z.string()).refine((list) => list.every(isNetwork), {
      // Only the first invalid item: reporting all items of a long list would take seconds.
      error: ({ input }) =>
        `must be a list of IP addresses and networks like 10.0.0.0/8 (${
          JSON.stringify(z.array(z.string()).parse(input).find((item) => !isNetwork(item)))
        } is neither)`,
    }),
  );

function isNetwork(item: string): boolean {
  return ipaddr.isValid(item) || ipaddr.isValidCIDR(item);
}

function splitAtCommas(list: string): string[] {
  return list.split(',').map((item) => item.trim()).filter((item) => item !== '');
}

/** Ports and port ranges (`9001-9009,10001`), as src/rules/port-range.ts reads them; TOML may give a single port as a number. */
export const portRanges = z.union([z.string(), z.int().transform(String)], { error: 'must be ports like 9001-9009,10001' })
  .transform((list, context) => {
    try {
      return parsePortRanges(list);
    } catch (error) {
      if (!(error instanceof PortRangeError)) throw error;
      context.addIssue({ code: 'custom', message: `must be ports like 9001-9009,10001 (${error.message})` });
      return z.NEVER;
    }
  });

/** "" = SQLite in the data directory, or the URL of a PostgreSQL database. */
export const databaseUrl = z.string('must be a text')
  .refine(
    (url) => url === '' || (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)),
    'must be empty (SQLite in the data directory) or a URL like postgresql://user:password@host:5432/database',
  );

/** A secret text. */
export const secret = z.string('must be a text');

/** Status of the response to an API call without a valid signature (contract D1). */
export const authFailureStatus = z.union([z.enum(['401', '302']).transform((status) => (status === '401' ? 401 : 302)), z.literal([401, 302])], {
  error: 'must be 401 or 302',
});
