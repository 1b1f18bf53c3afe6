import type { GlobalSettings as GlobalRow } from '../../store/generated/sqlite/client.ts';
import type { Reading } from '../../store/reading.ts';
import { builder } from '../builder.ts';
import type { GlobalState } from '../writes/changes.ts';
import type { Context } from '../context.ts';
import { hostOfUrl } from '../../rules/host-name.ts';
import { AditError } from '../errors.ts';
import { ipListOf, textOf } from '../values/input.ts';
import { Problems } from '../values/problems.ts';
import { usableCertificate } from '../platform-domain/certificate-rules.ts';
import { platformEntries, PlatformDomainInput } from '../platform-domain/input.ts';
import { savePlatformDomains } from '../platform-domain/write.ts';
import { givenOr, neverNull, textOrNone } from '../values/empty.ts';
import { type Basis, checkVersion, expectedVersion } from '../values/version.ts';
import { dryRun, updating } from '../writes/dry-run.ts';
import { GlobalSettings, globalRow, globalVersion } from './queries.ts';

const UpdateGlobalSettingsInput = builder.inputType('UpdateGlobalSettingsInput', {
  description: 'The global settings to change. Absent fields keep their value. Null clears a field; fields that cannot be cleared refuse null.',
  fields: (t) => ({
    blocklist: t.stringList({
      description: 'Addresses and networks (192.0.2.0/24) of visitors to refuse; null = none. Duplicates are removed. Other text is kept but matches nothing.',
    }),
    serverUrl: t.string({
      description:
        "The server's public address: an http or https URL, or a name or address with an optional port, at most 255 characters; null = unknown. TLS visitors that send no server name are served by the host of this name.",
    }),
    platformDomains: t.field({ type: [PlatformDomainInput], description: 'All platform domains. Existing ones that are not in this list are deleted.' }),
  }),
});

builder.mutationFields((t) => ({
  updateGlobalSettings: t.field({
    type: GlobalSettings,
    authScopes: { administrator: true },
    description: 'Changes the global settings. If any value is invalid, nothing is changed. For administrators.',
    args: {
      expectedVersion: t.arg.string(expectedVersion),
      input: t.arg({ type: UpdateGlobalSettingsInput, required: true, description: 'The fields to change.' }),
      anyServerUrl: t.arg.boolean({ defaultValue: false, description: 'Stores any text as `serverUrl`, as the legacy API does.' }),
      dryRun: t.arg.boolean(dryRun),
    },
    resolve: (_root, args, context) =>
      updateGlobalSettings(updating(context, args.dryRun), args.input, { expected: args.expectedVersion, anyServerUrl: args.anyServerUrl }),
  }),
}));

/** /global/save/ (contract 2.6, 4.7): hosts of a platform domain get its new certificate. */
function updateGlobalSettings(
  context: Context,
  { blocklist, serverUrl, platformDomains: domains }: typeof UpdateGlobalSettingsInput.$inferInput,
  { expected, anyServerUrl }: Basis & { readonly anyServerUrl: boolean | null | undefined },
): Promise<GlobalRow> {
  const problems = new Problems();
  const platformDomains = problems.check(() => neverNull('platformDomains', domains));
  const data = problems.columns({
    blackIpList: () => ipListOf(context.caller, 'blocklist', givenOr(blocklist, [])),
    serverUrl: () => serverUrlOf(textOf('serverUrl', textOrNone('serverUrl', serverUrl))?.trim(), anyServerUrl === true),
  });
  return problems.during(() =>
    context.write(async (tx, changed) => {
      const before = await globalState(tx);
      checkVersion('settings', globalVersion(context, before), expected);
      const entries = platformDomains ? problems.check(() => platformEntries(problems, platformDomains, before.platformDomains), 'platformDomains') : undefined;
      for (const [index, entry] of (entries ?? []).entries()) {
        if (entry.certFilePath !== '') await problems.inside(`platformDomains.${index}`).later(() => usableCertificate(entry, 'certificatePath'));
      }
      problems.end();
      await tx.globalSettings.upsert({ where: { id: 1 }, create: { id: 1, ...data }, update: data });
      const hosts = entries ? problems.required(await problems.later(() => savePlatformDomains(tx, entries), 'platformDomains')) : [];
      const after = await globalState(tx);
      changed({ resource: 'globalSettings', action: 'update', before, after });
      for (const host of hosts) changed({ resource: 'host', action: 'update', ...host });
      return after;
    })
  );
}

/** @throws {AditError} SERVER_URL_INVALID for a text that no server can be reached by */
function serverUrlOf(text: string | undefined, isAny: boolean): string | undefined {
  if (text === undefined || text === '' || isAny) return text;
  const host = hostOfUrl(text);
  // A single word is more likely a mistake than a server's name, so it must be part of a URL.
  const isServer = text.includes('://') ? /^https?:/i.test(text) && URL.canParse(text) : host === 'localhost' || /[.:]/.test(host);
  if (host !== '' && isServer) return text;
  throw new AditError('SERVER_URL_INVALID', { field: 'serverUrl' });
}

async function globalState(tx: Reading): Promise<GlobalState> {
  return { ...await globalRow(tx), platformDomains: await tx.platformDomain.findMany({ orderBy: { wildcard: 'asc' } }) };
}
