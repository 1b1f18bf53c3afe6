import type { Condition } from '../search/search.ts';
import { type ClientTroubles, troubledClients, troubledTunnels } from './problem-lists.ts';
import { storedTime } from './stored-time.ts';

/*
 * The filters of lists in addition to `where`, which are checked on each row (src/store/search). All of them must hold; an absent field has no
 * effect. The engine's state is the last saved one.
 */

/** Filters of clients. */
export interface ClientConditions {
  readonly connected?: boolean;
  /** Neither switched off nor expired. */
  readonly enabled?: boolean;
  /** It or its owner has. */
  readonly expired?: boolean;
  /** It has an owner. */
  readonly owned?: boolean;
  /** It or its owner expires before this moment. */
  readonly expiresBefore?: Date;
  /** It uses more than this percentage of its traffic limit, or of its tunnel and host limit; missing limits are ignored. */
  readonly usageAbove?: number;
  /** Its agent was connected, and last reported another version than this one. */
  readonly versionOtherThan?: string;
  /** Something is wrong with it. */
  readonly troubled?: ClientTroubles;
}

/** Filters of tunnels. */
export interface TunnelConditions {
  /** Its client is. */
  readonly connected?: boolean;
  readonly enabled?: boolean;
  readonly running?: boolean;
  /** Its client has an owner. */
  readonly owned?: boolean;
  /** Something is wrong with it: the ids of those whose problem only the engine knows. */
  readonly troubled?: readonly number[];
}

/** Filters of hosts. */
export interface HostConditions {
  /** Its client is. */
  readonly connected?: boolean;
  readonly enabled?: boolean;
  readonly scheme?: string;
  /** Its name is below a platform domain. */
  readonly platform?: boolean;
  readonly platformDomainId?: string;
  /** Its client has an owner. */
  readonly owned?: boolean;
  /** It is one of these. */
  readonly ids?: readonly number[];
  /** It is none of these. */
  readonly notIds?: readonly number[];
  /** It is started, and its client is connected. */
  readonly serving?: boolean;
}

/** Filters of users. */
export interface UserConditions {
  /** Neither switched off nor expired. */
  readonly enabled?: boolean;
  readonly expired?: boolean;
  /** They expire before this moment. */
  readonly expiresBefore?: Date;
  /** They use more than this percentage of their client limit, or of their tunnel and host limit; missing limits are ignored. */
  readonly usageAbove?: number;
}

const working = '"enabled" AND NOT "expired"';
const mebibyte = 1024 * 1024;

/** undefined = none. */
export function clientConditions(
  { connected, enabled, expired, owned, expiresBefore, usageAbove, versionOtherThan, troubled }: ClientConditions,
): readonly Condition[] | undefined {
  return given(
    is('"connected"', connected),
    is(working, enabled),
    is('"expired"', expired),
    is('"userId" IS NOT NULL', owned),
    expiresBefore && {
      sql: '"expiresAt" < ? OR EXISTS (SELECT 1 FROM "User" WHERE "User"."id" = "Client"."userId" AND "User"."expiresAt" < ?)',
      values: [storedTime(expiresBefore), storedTime(expiresBefore)],
    },
    usageAbove === undefined ? undefined : {
      sql: `${above(`${real('"inletBytes"')} + ${real('"exportBytes"')}`, 'flowLimit')} OR ${above(real('"tunnelCount"'), 'maxTunnels')}`,
      values: [usageAbove * mebibyte, usageAbove],
    },
    versionOtherThan === undefined ? undefined : { sql: `"agentVersion" NOT IN ('', ?)`, values: [versionOtherThan] },
    troubled && troubledClients(troubled),
  );
}

/** undefined = none. */
export function tunnelConditions({ connected, enabled, running, owned, troubled }: TunnelConditions): readonly Condition[] | undefined {
  return given(
    is('"clientOnline"', connected),
    is('"enabled"', enabled),
    is('"running"', running),
    is('"ownerId" IS NOT NULL', owned),
    troubled && troubledTunnels(troubled),
  );
}

/** undefined = none. */
export function hostConditions(
  { connected, enabled, serving, scheme, platform, platformDomainId, owned, ids, notIds }: HostConditions,
): readonly Condition[] | undefined {
  return given(
    is('"clientOnline"', connected),
    is('"enabled"', enabled),
    equal('"scheme"', scheme),
    is('"platformDomainId" IS NOT NULL', platform),
    equal('"platformDomainId"', platformDomainId),
    is('"ownerId" IS NOT NULL', owned),
    is('"enabled" AND "clientOnline"', serving),
    ids && { ids },
    notIds && { notIds },
  );
}

/** undefined = none. */
export function userConditions({ enabled, expired, expiresBefore, usageAbove }: UserConditions): readonly Condition[] | undefined {
  return given(
    is(working, enabled),
    is('"expired"', expired),
    expiresBefore && { sql: '"expiresAt" < ?', values: [storedTime(expiresBefore)] },
    usageAbove === undefined
      ? undefined
      : { sql: `${above(real('"clientCount"'), 'maxClients')} OR ${above(real('"tunnelCount"'), 'maxTunnels')}`, values: [usageAbove, usageAbove] },
  );
}

function is(sql: string, wanted: boolean | undefined): Condition | undefined {
  return wanted === undefined ? undefined : { sql: wanted ? sql : `NOT (${sql})` };
}

function equal(column: string, value: string | undefined): Condition | undefined {
  return value === undefined ? undefined : { sql: `${column} = ?`, values: [value] };
}

/** Whether usage exceeds a percentage of a limit in the same unit. A limit of 0 means unlimited. */
function above(used: string, limit: string): string {
  return `("${limit}" > 0 AND (${used}) * 100 > ${real('?')} * "${limit}")`;
}

/** As floating point, which doesn't overflow and gives the same results on both databases. */
function real(sql: string): string {
  return `CAST(${sql} AS double precision)`;
}

function given(...conditions: ReadonlyArray<Condition | undefined>): readonly Condition[] | undefined {
  const wanted = conditions.filter((condition) => condition !== undefined);
  return wanted.length === 0 ? undefined : wanted;
}
