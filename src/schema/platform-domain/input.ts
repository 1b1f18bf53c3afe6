import { patternsOverlap } from '../../rules/host-overlap.ts';
import { platformDomainId, platformWildcard } from '../../rules/platform-domain.ts';
import type { PlatformDomain } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';
import { AditError, invalidInput } from '../errors.ts';
import { isPem } from '../../rules/certificate.ts';
import { textOrNone } from '../values/empty.ts';
import { pathLength, textOf } from '../values/input.ts';
import type { Problems } from '../values/problems.ts';

/** Maximum number of platform domains: all of them are read when a host gets a name. */
const entryLimit = 1000;

/** An entry of the platform domains in the input. */
export const PlatformDomainInput = builder.inputType('PlatformDomainInput', {
  description: 'An entry of the platform domains.',
  fields: (t) => ({
    id: t.id({ description: 'The id of an existing entry; null = the entry with this `wildcard`, or a new one.' }),
    wildcard: t.string({ required: true, description: '`*.` and a domain with at least one dot.' }),
    certificatePath: t.string({
      description: 'The path of the certificate file on the server. If this and `privateKeyPath` are null, the hosts only serve HTTP.',
    }),
    privateKeyPath: t.string({ description: 'The path of the private key file on the server; null = none.' }),
  }),
});

/** The values of an entry. */
export type PlatformDomainValues = typeof PlatformDomainInput.$inferInput;

/** An entry that passed the checks that need no hosts. */
export type PlatformEntry = Pick<PlatformDomain, 'id' | 'wildcard' | 'certFilePath' | 'keyFilePath'>;

/** @param reason shown to the caller unchanged @param field of the entry; undefined = the list itself is invalid */
export function invalidDomain(reason: string, wildcard = '', field?: string): AditError {
  return new AditError('PLATFORM_DOMAIN_INVALID', { reason, wildcard, ...(field !== undefined && { field }) });
}

/**
 * The entries in their stored form (contract 2.6, 4.7).
 * @param problems collects errors in entries; the result is then undefined
 * @throws {AditError} PLATFORM_DOMAIN_INVALID, INVALID_INPUT
 */
export function platformEntries(problems: Problems, given: readonly PlatformDomainValues[], stored: readonly PlatformDomain[]): PlatformEntry[] | undefined {
  if (given.length > entryLimit) throw invalidInput('platformDomains', `more than ${entryLimit} entries`, { most: entryLimit });
  const parsed = given.map((entry, index) => problems.inside(`platformDomains.${index}`).check(() => parseEntry(entry), 'wildcard')).filter((entry) =>
    entry !== undefined
  );
  if (parsed.length < given.length) return undefined;
  const ids = new Set<string>();
  for (const { id } of parsed) {
    if (id !== '' && ids.has(id)) throw invalidDomain(`platform domains: duplicate id ${id}`);
    ids.add(id);
  }
  checkOverlap(parsed.map(({ wildcard }) => wildcard));
  const idByWildcard = new Map(stored.map(({ id, wildcard }) => [wildcard, id]));
  return parsed.map((entry) => {
    if (entry.id !== '') return entry;
    const known = idByWildcard.get(entry.wildcard);
    const id = known !== undefined && !ids.has(known) ? known : platformDomainId(entry.wildcard, ids);
    ids.add(id);
    return { ...entry, id };
  });
}

function parseEntry(given: PlatformDomainValues): PlatformEntry {
  const text = textOf('wildcard', given.wildcard) ?? '';
  const made = platformWildcard(text);
  if ('fault' in made) {
    throw invalidDomain(
      made.fault === 'pattern' ? `platform domain ${JSON.stringify(text)}: the pattern must be *.example.com` : `platform domain ${text}: bad DNS name`,
      text,
    );
  }
  const { wildcard } = made;
  const [certFilePath, keyFilePath] = [pathOf(wildcard, 'certificatePath', given.certificatePath), pathOf(wildcard, 'privateKeyPath', given.privateKeyPath)];
  if ((certFilePath === '') !== (keyFilePath === '')) {
    throw invalidDomain(
      `platform domain ${wildcard}: certificate and key must be given both or none`,
      wildcard,
      certFilePath === '' ? 'certificatePath' : 'privateKeyPath',
    );
  }
  return { id: textOf('id', textOrNone('id', given.id))?.trim() ?? '', wildcard, certFilePath, keyFilePath };
}

/** Accepts only paths: callers send back entries to keep them, but private keys are never returned (contract D16). */
function pathOf(wildcard: string, field: string, value: string | null | undefined): string {
  if (value && isPem(value)) throw invalidDomain(`platform domain ${wildcard}: certificate and key are paths of files, not text`, wildcard, field);
  return textOf(field, textOrNone(field, value), pathLength)?.trim() ?? '';
}

function checkOverlap(wildcards: readonly string[]): void {
  wildcards.forEach((a, index) => {
    const b = wildcards.slice(0, index).find((other) => patternsOverlap(a, other));
    if (b !== undefined) throw invalidDomain(`platform domains ${b} and ${a} overlap`, a);
  });
}
