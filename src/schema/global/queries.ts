import type { GlobalSettings as GlobalRow } from '../../store/generated/sqlite/client.ts';
import type { Reading } from '../../store/reading.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import type { GlobalState } from '../writes/changes.ts';
import { versionField, versionOfValues } from '../values/version.ts';
import { PlatformDomain } from '../platform-domain/type.ts';
import { textOrNull } from '../values/empty.ts';
import { ipListOf } from '../values/ip-lists.ts';
import { allPlatformDomains } from '../platform-domain/queries.ts';

/** The settings of the whole server (contract 1.6). */
export const GlobalSettings = builder.objectRef<GlobalRow>('GlobalSettings').implement({
  description: 'The settings of the whole server.',
  fields: (t) => ({
    version: t.string({
      description: versionField,
      resolve: async (row, _args, context) => globalVersion(context, { ...row, platformDomains: await allPlatformDomains(context) }),
    }),
    blocklist: t.stringList({
      description: 'Addresses and networks of visitors that all tunnels and hosts refuse.',
      resolve: (row, _args, context) => ipListOf(context, row.blackIpList),
    }),
    serverUrl: t.string({ nullable: true, description: "The server's public address; null = unknown.", resolve: (row) => textOrNull(row.serverUrl) }),
    platformDomains: t.field({ type: [PlatformDomain], description: 'The platform domains.', resolve: (_row, _args, context) => allPlatformDomains(context) }),
  }),
});

builder.queryFields((t) => ({
  globalSettings: t.field({
    type: GlobalSettings,
    nullable: true,
    authScopes: { administrator: true },
    description: 'The global settings. For administrators.',
    resolve: (_root, _args, { store }) => globalRow(store.db),
  }),
}));

/** The version of the global settings, with the platform domains. */
export function globalVersion({ settings }: Context, { blackIpList, serverUrl, platformDomains }: GlobalState): string {
  const domains = platformDomains.map(({ id, wildcard, certFilePath, keyFilePath }) => [id, wildcard, certFilePath, keyFilePath]);
  return versionOfValues(settings.versionKey, [blackIpList, serverUrl, domains]);
}

/** The only row; it doesn't exist before the first save. */
export async function globalRow(db: Reading): Promise<GlobalRow> {
  return await db.globalSettings.findUnique({ where: { id: 1 } }) ?? { id: 1, blackIpList: '', serverUrl: '' };
}
