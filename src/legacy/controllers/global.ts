import * as z from 'zod';
import { AditError } from '../../schema/errors.ts';
import { invalidParameter } from '../errors.ts';
import { GetGlobalDocument, SaveGlobalDocument, type PlatformDomainInput } from '../generated/graphql.ts';
import { about, list as listOf, type Parameter, text } from '../parameters.ts';
import { globalRecord } from '../records/global.ts';
import { shaped, write, type Route } from '../route.ts';
import { noneAtEmpty } from '../settable.ts';

/** The keys of an entry are case-insensitive (contract 1.5). */
const entry = z.preprocess(
  (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).map(([name, field]: [string, unknown]) => [name.toLowerCase(), field]))
      : value,
  z.object({ id: z.string().nullish(), wildcard: z.string(), certfilepath: z.string().nullish(), keyfilepath: z.string().nullish() }),
);
const entries = z.array(entry);

/** JSON of the platform domains: absent = keep, [] = none. A blank or repeated parameter is refused (contract 2.6). */
const platformDomains: Parameter<PlatformDomainInput[] | undefined> = {
  kind: 'text',
  description: 'The platform domains as a JSON array of {ID, Wildcard, CertFilePath, KeyFilePath}. New entries have no ID. Set both paths or neither.',
  once: true,
  read: (value, name) => {
    if (value === undefined) return undefined;
    if (value.trim() === '') throw new AditError('PLATFORM_DOMAIN_INVALID', { reason: `${name} must not be blank; send []` });
    const read = entries.safeParse(jsonOf(value, name));
    if (!read.success) throw invalidParameter(name, z.prettifyError(read.error).split('\n').join(' '));
    return read.data.map(({ id, wildcard, certfilepath, keyfilepath }) => ({
      id: id || null,
      wildcard,
      certificatePath: certfilepath || null,
      privateKeyPath: keyfilepath || null,
    }));
  },
};

function jsonOf(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message would quote the input.
    throw invalidParameter(name, 'not valid JSON');
  }
}

/** The endpoints under /global, for administrators (contract 1.6, 2.6). */
export const globalRoutes: readonly Route[] = [
  shaped({
    path: '/global/index',
    answer: 'GlobalSettings',
    summary: 'Returns the global blacklist, the server URL and the platform domains. Browsers get the page of the panel.',
    parameters: {},
    operation: GetGlobalDocument,
    ownPage: true,
    variables: () => ({}),
    shape: globalRecord,
  }),
  write({
    path: '/global/save',
    summary: 'Changes the global settings. Absent parameters keep their values. If any value is invalid, nothing is changed.',
    parameters: {
      globalBlackIpList: about('Addresses and networks of visitors that all clients refuse: at most 1 MB.', listOf()),
      serverUrl: noneAtEmpty(about("The server's public address.", text())),
      platform_domains: platformDomains,
    },
    operation: SaveGlobalDocument,
    variables: (values) => ({ input: { blocklist: values.globalBlackIpList, serverUrl: values.serverUrl, platformDomains: values.platform_domains } }),
    success: 'save success',
    fields: {
      blocklist: 'globalBlackIpList',
      serverUrl: 'serverUrl',
      platformDomains: 'platform_domains',
      certificatePath: 'certFilePath',
      privateKeyPath: 'keyFilePath',
    },
  }),
];
