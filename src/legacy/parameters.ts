import { parseExpireTime } from '../rules/expire-time.ts';
import { AditError } from '../schema/errors.ts';
import { invalidParameter, type Resource } from './errors.ts';
import type { Input } from './input.ts';

/**
 * One parameter of an endpoint: how its text becomes a value. `undefined` is the value of an absent parameter, and means
 * "keep" on edits and "default" on adds (contract D23).
 */
export interface Parameter<T> {
  /** What callers send, for the API description. */
  readonly kind: 'id' | 'text' | 'integer' | 'boolean' | 'list' | 'time' | 'choice';
  /** One line for the API description. */
  readonly description?: string;
  /** A call without it is refused. */
  readonly required?: true;
  /** The texts of a choice. */
  readonly choices?: readonly string[];
  /** The largest integer. */
  readonly maximum?: number;
  /** Others' is ignored, whatever it holds: it counts as absent (contract 2.2). */
  readonly forAdministrators?: true;
  /** More than one value is refused; of all other parameters the first counts. */
  readonly once?: true;
  /** @throws {AditError} when the text is not acceptable; `name` is the parameter's name */
  readonly read: (text: string | undefined, name: string) => T;
}

/** The parameters of an endpoint by name, read in this order. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** What the parameters of an endpoint hold once read. */
export type Values<P extends Parameters> = { readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never };

/** The parameter with the line that the API description has of it. */
export function about<T>(description: string, parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, description };
}

/** The parameter, which only administrators may send: what others send is as if it were absent, and not even looked at. */
export function forAdministrators<T>(parameter: Parameter<T | undefined>): Parameter<T | undefined> {
  return { ...parameter, description: `${parameter.description ?? ''} For administrators.`, forAdministrators: true };
}

/** Largest integer a record can hold. */
const integerLimit = 2 ** 31 - 1;

/** The record a call is about. Absent, blank or malformed = there is no such record (contract D31). */
export function id(resource: Resource): Parameter<number> {
  return {
    kind: 'id',
    description: `The ${resource}'s id.`,
    required: true,
    read: (text) => {
      const value = integerOf(text ?? '');
      if (value === undefined || value < 1 || value > integerLimit) throw new AditError('NOT_FOUND', { resource });
      return value;
    },
  };
}

/** Another record that a record belongs to; absent, blank and 0 = not named. Malformed = there is no such record. */
export function reference(resource: Resource): Parameter<number | undefined> {
  const named = id(resource);
  return {
    kind: 'id',
    description: `The ${resource}'s id; absent, blank and 0 = none named.`,
    read: (text, name) => {
      const blank = text === undefined || text.trim() === '' || integerOf(text) === 0;
      return blank ? undefined : named.read(text, name);
    },
  };
}

/** Text, kept as it was sent; how long it may be, the schema says (contract D32). */
export function text(): Parameter<string | undefined> {
  return { kind: 'text', read: (value) => value };
}

/** Text that has to be there. @param missing what a blank one is answered with */
export function required(missing: () => AditError): Parameter<string> {
  return {
    kind: 'text',
    required: true,
    read: (value) => {
      if (value === undefined || value.trim() === '') throw missing();
      return value;
    },
  };
}

/** Text that blank leaves as it is: keys and passwords (contract 2.2, D11, D23). */
export function keptText(): Parameter<string | undefined> {
  return { kind: 'text', read: (value) => value?.trim() === '' ? undefined : value };
}

/** Whole number up to `max`; blank and negative = 0, which means "unlimited" or "automatic". */
export function integer(max = integerLimit): Parameter<number | undefined> {
  return {
    kind: 'integer',
    maximum: max,
    read: (value, name) => {
      if (value === undefined) return undefined;
      if (value.trim() === '') return 0;
      const number = integerOf(value);
      if (number === undefined || number > max) throw invalidParameter(name);
      return Math.max(0, number);
    },
  };
}

/** A number as GraphQL takes it, where 0 is the legacy API's way to say none. */
export function noneAt0(value: number | undefined): number | null | undefined {
  return value === 0 ? null : value;
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False', ''].map((word) => [word, false] as const),
]);

/** Switch: the boolean texts of contract section 0; blank = false. */
export function boolean(): Parameter<boolean | undefined> {
  return { kind: 'boolean', read: (value, name) => value === undefined ? undefined : booleanOf(value, name) };
}

/** Switch that a call is about, so that it has to be there. */
export function requiredBoolean(): Parameter<boolean> {
  return {
    kind: 'boolean',
    required: true,
    read: (value, name) => {
      if (value === undefined) throw invalidParameter(name);
      return booleanOf(value, name);
    },
  };
}

/** Items one a line, CRLF or LF; blank ones are dropped. */
export function list(): Parameter<string[] | undefined> {
  return { kind: 'list', read: (value) => value?.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== '') };
}

/** Expiry time as an ISO text; blank = null, never (contract D17). */
export function time(): Parameter<string | null | undefined> {
  return {
    kind: 'time',
    read: (value, name) => {
      if (value === undefined) return undefined;
      if (value.trim() === '') return null;
      const at = parseExpireTime(value);
      if (!at) throw invalidParameter(name);
      return at.toISOString();
    },
  };
}

/** Owner's id; blank and 0 = null, nobody (contract 2.2). */
export function owner(): Parameter<number | null | undefined> {
  return {
    kind: 'id',
    description: 'The id of the user that owns it; blank and 0 = nobody.',
    read: (value, name) => {
      if (value === undefined) return undefined;
      const number = value.trim() === '' ? 0 : integerOf(value);
      if (number === undefined || number < 0 || number > integerLimit) throw invalidParameter(name);
      return number === 0 ? null : number;
    },
  };
}

/**
 * One of the texts of `table`, spaces around trimmed; blank counts as absent unless the table knows it.
 * @param unknown makes the error of any other text
 */
export function choice<T>(table: Readonly<Record<string, T>>, unknown: (name: string) => AditError = invalidParameter): Parameter<T | undefined> {
  const known = new Map(Object.entries(table));
  return {
    kind: 'choice',
    choices: textsOf(known),
    read: (value, name) => {
      if (value === undefined) return undefined;
      const chosen = known.get(value.trim());
      if (chosen === undefined && value.trim() !== '') throw unknown(name);
      return chosen;
    },
  };
}

/** The parameter, whose texts are taken in any case. @param parameter its texts are lower case */
export function caseless<T>(parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, read: (value, name) => parameter.read(value?.toLowerCase(), name) };
}

const strictFilter: Parameter<number | undefined> = {
  kind: 'id',
  read: (value, name) => {
    if (value === undefined || value.trim() === '') return undefined;
    const number = integerOf(value);
    if (number === undefined || number < 0 || number > integerLimit) throw invalidParameter(name);
    return number;
  },
};

/** List parameters: what can't be read counts as absent (contract D31, 2.1). */
export const listing = {
  /** Row offset; negative = 0. */
  offset: about('How many rows to leave out at the beginning.', tolerant<number | undefined>('integer', (value) => clamped(integerOf(value)))),
  /** Absent, blank = all rows; 0 and negative = none (contract D4). */
  limit: about('The most rows to answer; absent = all, 0 = none, only the total.', tolerant<number | undefined>('integer', (value) => clamped(integerOf(value)))),
  /** Filter by a record's id; 0 = any. */
  filter: about("Only those of this client; 0 = all.", tolerant<number | undefined>('integer', (value) => clamped(integerOf(value), -integerLimit) || undefined)),
  /** A filter by an id, also 0; blank = any. What can't be read would widen the list, so it is refused (contract 2.1). */
  strictFilter,
  /** An administrator's filter by the owner. */
  owner: forAdministrators(about('Only what belongs to the clients of this user; 0 = to clients that nobody owns.', strictFilter)),
  /** Only the records of clients that nobody owns. */
  unassigned: forAdministrators(about('Only what belongs to clients that nobody owns.', tolerant<boolean | undefined>('boolean', (value) => booleans.get(value.trim())))),
  /** Text to look for; blank = any. */
  search: about('Only records that hold this text, without regard to case, or whose id or port it is.', tolerant<string | undefined>('text', (value) => value === '' ? undefined : value)),
  /** Descending only for "desc", in any case. */
  order: {
    ...tolerant<'ASC' | 'DESC'>('choice', (value) => value.trim().toLowerCase() === 'desc' ? 'DESC' : 'ASC'),
    choices: ['asc', 'desc'],
    description: 'Which way to sort.',
  },
} satisfies Record<string, Parameter<unknown>>;

/** The variables of an administrator's filters by owner: user_id 0 means nobody's (contract 2.1). */
export function ownerFilter({ user_id: ownerId, unassigned }: { readonly user_id: number | undefined; readonly unassigned: boolean | undefined }) {
  return ownerId === 0 ? { unassigned: true } : { ownerId, unassigned };
}

/** Sort name; an unknown one counts as absent, which means by id, ascending (contract 2.1). */
export function sort<const T extends string>(names: Readonly<Record<string, T>>): Parameter<T | undefined> {
  const known = new Map(Object.entries(names));
  return { ...tolerant('choice', (value) => known.get(value.trim())), choices: textsOf(known), description: 'What to sort by; absent = the id.' };
}

/**
 * Reads the parameters of an endpoint.
 * @param byAdministrator whether an administrator sent them; parameters for administrators count as absent otherwise
 * @throws {AditError} for the first one that is not acceptable
 */
export function readParameters<P extends Parameters>(parameters: P, input: Input, byAdministrator: boolean): Values<P> {
  const values: Record<string, unknown> = {};
  for (const name in parameters) {
    const parameter = parameters[name];
    if (parameter?.once && input.repeated?.has(name)) throw invalidParameter(name, 'sent more than once');
    values[name] = parameter?.read(parameter.forAdministrators && !byAdministrator ? undefined : input.get(name), name);
  }
  // Each key holds what the parameter of that name returned, which is what Values says: TypeScript can't follow the loop.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return values as Values<P>;
}

function tolerant<T>(kind: Parameter<T>['kind'], read: (text: string) => T): Parameter<T> {
  return { kind, read: (value) => read(value ?? '') };
}

function textsOf(table: ReadonlyMap<string, unknown>): string[] {
  return [...table.keys()].filter((name) => name !== '');
}

/** undefined for anything but an optional sign and digits. */
function integerOf(value: string): number | undefined {
  const trimmed = value.trim();
  return /^[+-]?\d+$/.test(trimmed) ? Number(trimmed) : undefined;
}

function clamped(value: number | undefined, least = 0): number | undefined {
  return value === undefined ? undefined : Math.min(Math.max(value, least), integerLimit);
}

function booleanOf(value: string, name: string): boolean {
  const known = booleans.get(value.trim());
  if (known === undefined) throw invalidParameter(name);
  return known;
}
