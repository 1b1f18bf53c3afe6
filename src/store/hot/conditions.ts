import type { Condition } from '../search/search.ts';
import { storedTime } from './stored-time.ts';

/*
 * The filters of lists in addition to `where`, which are checked on each row (src/store/search). All of them must hold; an absent field has no
 * effect. The engine's state is the last saved one.
 */

/** Which clients. */
export interface ClientConditions {
  readonly connected?: boolean;
  /** Neither switched off nor expired. */
  readonly enabled?: boolean;
  /** It has an owner. */
  readonly owned?: boolean;
  /** Its time or its owner's ends before this moment. */
  readonly expiresBefore?: Date;
  /** It uses more than this percentage of its traffic, or of its tunnels and hosts; what is unlimited isn't looked at. */
  readonly usageAbove?: number;
}

/** Which tunnels. */
export interface TunnelConditions {
  /** Its client is. */
  readonly connected?: boolean;
  readonly enabled?: boolean;
  readonly running?: boolean;
  /** Its client has an owner. */
  readonly owned?: boolean;
}

/** Which hosts. */
export interface HostConditions {
  /** Its client is. */
  readonly connected?: boolean;
  readonly enabled?: boolean;
  readonly scheme?: string;
  /** It lies below a platform domain. */
  readonly platform?: boolean;
  readonly platformDomainId?: string;
  /** Its client has an owner. */
  readonly owned?: boolean;
  /** It is one of these. */
  readonly ids?: readonly number[];
}

/** Which users. */
export interface UserConditions {
  /** Neither switched off nor expired. */
  readonly enabled?: boolean;
  /** Their time ends before this moment. */
  readonly expiresBefore?: Date;
  /** They have more than this percentage of their clients, or of their tunnels and hosts; what is unlimited isn't looked at. */
  readonly usageAbove?: number;
}

const working = '"enabled" AND NOT "expired"';
const mebibyte = 1024 * 1024;

/** undefined = none. */
export function clientConditions({ connected, enabled, owned, expiresBefore, usageAbove }: ClientConditions): readonly Condition[] | undefined {
  return given(
    is('"connected"', connected), is(working, enabled), is('"userId" IS NOT NULL', owned),
    expiresBefore && {
      sql: '"expiresAt" < ? OR EXISTS (SELECT 1 FROM "User" WHERE "User"."id" = "Client"."userId" AND "User"."expiresAt" < ?)', values: [storedTime(expiresBefore), storedTime(expiresBefore)],
    },
    usageAbove === undefined ? undefined : {
      sql: `${above(`${real('"inletBytes"')} + ${real('"exportBytes"')}`, 'flowLimit')} OR ${above(real('"tunnelCount"'), 'maxTunnels')}`, values: [usageAbove * mebibyte, usageAbove],
    },
  );
}

/** undefined = none. */
export function tunnelConditions({ connected, enabled, running, owned }: TunnelConditions): readonly Condition[] | undefined {
  return given(is('"clientOnline"', connected), is('"enabled"', enabled), is('"running"', running), is('"ownerId" IS NOT NULL', owned));
}

/** undefined = none. */
export function hostConditions({ connected, enabled, scheme, platform, platformDomainId, owned, ids }: HostConditions): readonly Condition[] | undefined {
  return given(
    is('"clientOnline"', connected), is('"enabled"', enabled), equal('"scheme"', scheme), is('"platformDomainId" IS NOT NULL', platform), equal('"platformDomainId"', platformDomainId),
    is('"ownerId" IS NOT NULL', owned), ids && { ids },
  );
}

/** undefined = none. */
export function userConditions({ enabled, expiresBefore, usageAbove }: UserConditions): readonly Condition[] | undefined {
  return given(
    is(working, enabled), expiresBefore && { sql: '"expiresAt" < ?', values: [storedTime(expiresBefore)] },
    usageAbove === undefined ? undefined : { sql: `${above(real('"clientCount"'), 'maxClients')} OR ${above(real('"tunnelCount"'), 'maxTunnels')}`, values: [usageAbove, usageAbove] },
  );
}

function is(sql: string, wanted: boolean | undefined): Condition | undefined {
  return wanted === undefined ? undefined : { sql: wanted ? sql : `NOT (${sql})` };
}

function equal(column: string, value: string | undefined): Condition | undefined {
  return value === undefined ? undefined : { sql: `${column} = ?`, values: [value] };
}

/** More than a percentage of a limit, which is the value, in the unit of what is used. 0 is no limit. */
function above(used: string, limit: string): string {
  return `("${limit}" > 0 AND (${used}) * 100 > ${real('?')} * "${limit}")`;
}

/** In floating point, which overflows nowhere, and which both databases do alike. */
function real(sql: string): string {
  return `CAST(${sql} AS double precision)`;
}

function given(...conditions: ReadonlyArray<Condition | undefined>): readonly Condition[] | undefined {
  const wanted = conditions.filter((condition) => condition !== undefined);
  return wanted.length === 0 ? undefined : wanted;
}
