import { splitIpList } from '../../rules/ip-list.ts';
import type { GlobalSettings as GlobalRow } from '../../store/generated/sqlite/client.ts';
import type { Reading } from '../../store/reading.ts';
import { builder } from '../builder.ts';
import type { GlobalState } from '../changes.ts';
import type { Context } from '../context.ts';
import { ipListOf, textOf } from '../input.ts';
import { Problems } from '../problems.ts';
import { usableCertificate } from '../platform-domain/certificate.ts';
import { platformEntries, PlatformDomainInput } from '../platform-domain/input.ts';
import { savePlatformDomains } from '../platform-domain/save.ts';
import { allPlatformDomains, PlatformDomain } from '../platform-domain/type.ts';
import { givenOr, neverNull, textOrNull } from '../empty.ts';

const GlobalSettings = builder.objectRef<GlobalRow>('GlobalSettings').implement({
  description: 'What holds for the whole server.',
  fields: (t) => ({
    blackIpList: t.stringList({ description: 'Addresses of visitors that every tunnel and host turns away.', resolve: (row) => splitIpList(row.blackIpList) }),
    serverUrl: t.string({ nullable: true, description: 'The address at which the server is reached from outside; null = not told.', resolve: (row) => textOrNull(row.serverUrl) }),
    platformDomains: t.field({ type: [PlatformDomain], description: 'The platform domains.', resolve: (_row, _args, context) => allPlatformDomains(context) }),
  }),
});

const UpdateGlobalSettingsInput = builder.inputType('UpdateGlobalSettingsInput', {
  description: 'What is to change of the global settings. A field that is absent keeps its value; null clears it, and is refused where there is nothing to clear.',
  fields: (t) => ({
    blackIpList: t.stringList({ description: 'Addresses and networks (192.0.2.0/24) of visitors to turn away; of equal lines the last stays. Lines that are neither are kept and match nobody; null = none.' }),
    serverUrl: t.string({ description: 'The address at which the server is reached from outside, at most 255 characters. The host of its name or address answers visitors whose TLS names none; null = not known.' }),
    platformDomains: t.field({ type: [PlatformDomainInput], description: 'All platform domains that there are to be.' }),
  }),
});

builder.queryFields((t) => ({
  globalSettings: t.field({
    type: GlobalSettings,
    authScopes: { administrator: true },
    description: 'The global settings. For administrators.',
    resolve: (_root, _args, { store }) => globalRow(store.db),
  }),
}));

builder.mutationFields((t) => ({
  updateGlobalSettings: t.field({
    type: GlobalSettings,
    authScopes: { administrator: true },
    description: 'Changes the global settings, all of what is given or nothing. For administrators.',
    args: { input: t.arg({ type: UpdateGlobalSettingsInput, required: true, description: 'What is to change.' }) },
    resolve: (_root, { input }, context) => updateGlobalSettings(context, input),
  }),
}));

/** /global/save/ (contract 2.6, 4.7): hosts of a platform domain get its new certificate. */
function updateGlobalSettings(context: Context, { blackIpList, serverUrl, platformDomains: domains }: typeof UpdateGlobalSettingsInput.$inferInput): Promise<GlobalRow> {
  const problems = new Problems();
  const platformDomains = problems.check(() => neverNull('platformDomains', domains));
  const data = problems.columns({
    blackIpList: () => ipListOf(context.caller, 'blackIpList', givenOr(blackIpList, [])),
    serverUrl: () => textOf('serverUrl', givenOr(serverUrl, ''))?.trim(),
  });
  return problems.during(() => context.write(async (tx, changed) => {
    const before = await globalState(tx);
    const entries = platformDomains ? problems.check(() => platformEntries(problems, platformDomains, before.platformDomains), 'platformDomains') : undefined;
    for (const [index, entry] of (entries ?? []).entries()) {
      if (entry.certFilePath !== '') await problems.inside(`platformDomains.${index}`).later(() => usableCertificate(entry, 'certFilePath'));
    }
    problems.end();
    await tx.globalSettings.upsert({ where: { id: 1 }, create: { id: 1, ...data }, update: data });
    const hosts = entries ? problems.required(await problems.later(() => savePlatformDomains(tx, entries), 'platformDomains')) : [];
    const after = await globalState(tx);
    changed({ resource: 'globalSettings', action: 'update', before, after });
    for (const host of hosts) changed({ resource: 'host', action: 'update', ...host });
    return after;
  }));
}

async function globalState(tx: Reading): Promise<GlobalState> {
  return { ...await globalRow(tx), platformDomains: await tx.platformDomain.findMany({ orderBy: { wildcard: 'asc' } }) };
}

/** The one row; before the first save there is none. */
async function globalRow(db: Reading): Promise<GlobalRow> {
  return await db.globalSettings.findUnique({ where: { id: 1 } }) ?? { id: 1, blackIpList: '', serverUrl: '' };
}
