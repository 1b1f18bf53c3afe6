import * as z from 'zod';
import { isHeaderLine, isHostHeader } from '../../rules/header-line.ts';
import { hostLocation } from '../../rules/host-location.ts';
import { hostPattern } from '../../rules/host-name.ts';
import { resolvedPath } from '../../rules/request-path.ts';
import type { DeclaredHost } from '../../wire/declaration.ts';
import { healthTable } from './health.ts';
import { line, localPath, targets } from './tunnel-table.ts';

const header = z.string('must be a text').refine(isHeaderLine, 'must be "Name: value"');

function isLocation(text: string): boolean {
  const location = hostLocation(text);
  return location !== undefined && resolvedPath(location) !== undefined;
}

/** A table of `[hosts.NAME]`: a name of its own, or a prefix below a platform domain. */
export const hostTable = z.strictObject({
  host: line.refine((text) => hostPattern(text) !== undefined, 'must be a name, an address, or *. and a name').optional(),
  platform_domain: line.optional(),
  platform_prefix: line.optional(),
  location: line.refine(isLocation, 'must be a path without blanks, ? and #, and without dot segments above its root').default('/'),
  scheme: z.enum(['all', 'http', 'https'], 'must be "all", "http" or "https"').default('all'),
  targets,
  headers: z.array(header, 'must be a list: ["Name: value"]').max(100, 'must be at most 100').default([]),
  host_change: line.refine(isHostHeader, 'must be ASCII without blanks').default(''),
  certificate: localPath.optional(),
  private_key: localPath.optional(),
  auto_https: z.boolean('must be true or false').default(false),
  acme: z.boolean('must be true or false').default(false),
  health: healthTable.optional(),
  remark: line.default(''),
}, { error: ({ code }) => code === 'invalid_type' ? 'must be a table' : undefined }).superRefine((table, context) => {
  const need = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
  const platform = table.platform_domain !== undefined || table.platform_prefix !== undefined;
  if (table.host === undefined && !platform) need('host', 'is missing');
  if (table.host !== undefined && platform) need('host', 'must not be given together with a platform domain');
  if (platform && table.platform_domain === undefined) need('platform_domain', 'is missing');
  if (platform && table.platform_prefix === undefined) need('platform_prefix', 'is missing');
  if (platform && table.certificate !== undefined) need('certificate', 'must not be given: the platform domain has one');
  if (table.certificate !== undefined && table.private_key === undefined) need('private_key', 'is missing');
  if (table.private_key !== undefined && table.certificate === undefined) need('certificate', 'is missing');
});

/** @see hostTable */
export type HostTable = z.output<typeof hostTable>;

/** The host as it is declared to the server, before certificate and key are read. */
export function hostOf(table: HostTable): DeclaredHost {
  return {
    host: table.host ?? '',
    platformDomainId: table.platform_domain ?? '',
    platformPrefix: table.platform_prefix ?? '',
    location: table.location,
    scheme: table.scheme,
    targets: table.targets,
    headers: table.headers,
    hostChange: table.host_change,
    certificate: '',
    privateKey: '',
    autoHttps: table.auto_https,
    acme: table.acme,
    remark: table.remark,
  };
}
