import { parseExpireTime } from '../rules/expire-time.ts';
import { AditError } from '../schema/errors.ts';
import { invalidParameter, type Resource } from './errors.ts';
import type { Input } from './input.ts';

/**
 * A parameter of an endpoint, with the conversion from its text to a value. An absent parameter has the value `undefined`, which means
 * "keep" on edits and "default" on adds (contract D23).
 */
export interface Parameter<T> {
  /** The type of the text, for the API description. */
  readonly kind: 'id' | 'text' | 'integer' | 'boolean' | 'list' | 'time' | 'choice';
  /** One line for the API description. */
  readonly description?: string;
  /** Calls without it are refused. */
  readonly required?: true;
  /** The allowed texts. */
  readonly choices?: readonly string[];
  /** The largest integer. */
  readonly maximum?: number;
  /** Ignored as if absent when other callers send it (contract 2.2). */
  readonly forAdministrators?: true;
  /** More than one value is refused; for other parameters the first value counts. */
  readonly once?: true;
  /** @throws {AditError} if the text is invalid; `name` is the parameter's name */
  readonly read: (text: string | undefined, name: string) => T;
}

/** The parameters of an endpoint by name, read in this order. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** The values of an endpoint's parameters. */
export type Values<P extends Parameters> = { readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never };

/** Adds the line for the API description to a parameter. */
export function about<T>(description: string, parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, description };
}

/** Marks a parameter that only administrators may send. From other callers it counts as absent and is not validated. */
export function forAdministrators<T>(parameter: Parameter<T | undefined>): Parameter<T | undefined> {
  return { ...parameter, description: `${parameter.description ?? ''} For administrators.`, forAdministrators: true };
}

/** Largest integer a record can hold. */
export const integerLimit = 2 ** 31 - 1;

/** The id of the record that a call is about. Absent, blank or malformed = no such record (contract D31). */
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

/** The id of a record that another record belongs to; absent, blank and 0 = not given. Malformed = no such record. */
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

/** Text, unchanged; the schema limits its length (contract D32). */
export function text(): Parameter<string | undefined> {
  return { kind: 'text', read: (value) => value };
}

/** Required text. @param missing creates the error for a blank text */
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

/** Text for which blank means "keep": keys and passwords (contract 2.2, D11, D23). */
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

/** The texts that mean true and false. */
export const booleans: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False', ''].map((word) => [word, false] as const),
]);

/** A boolean: the texts of contract section 0; blank = false. */
export function boolean(): Parameter<boolean | undefined> {
  return { kind: 'boolean', read: (value, name) => value === undefined ? undefined : booleanOf(value, name) };
}

/** A required boolean. */
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

/** Items on separate lines, CRLF or LF; blank ones are dropped. */
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
    description: 'The id of the user that owns it; blank or 0 = nobody.',
    read: (value, name) => {
      if (value === undefined) return undefined;
      const number = value.trim() === '' ? 0 : integerOf(value);
      if (number === undefined || number < 0 || number > integerLimit) throw invalidParameter(name);
      return number === 0 ? null : number;
    },
  };
}

/**
 * One of the texts of `table`, with surrounding spaces trimmed; blank counts as absent unless the table contains it.
 * @param unknown creates the error for any other text
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

/** Makes the texts of a parameter case-insensitive. @param parameter its texts are lower case */
export function caseless<T>(parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, read: (value, name) => parameter.read(value?.toLowerCase(), name) };
}

/**
 * Reads the parameters of an endpoint.
 * @param byAdministrator whether an administrator sent them; otherwise, parameters for administrators count as absent
 * @throws {AditError} for the first invalid one
 */
export function readParameters<P extends Parameters>(parameters: P, input: Input, byAdministrator: boolean): Values<P> {
  const values: Record<string, unknown> = {};
  for (const name in parameters) {
    const parameter = parameters[name];
    if (parameter?.once && input.repeated?.has(name)) throw invalidParameter(name, 'sent more than once');
    values[name] = parameter?.read(parameter.forAdministrators && !byAdministrator ? undefined : input.get(name), name);
  }
  // Each key holds the value of the parameter with that name, as the type Values says; TypeScript can't follow the loop.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return values as Values<P>;
}

/** The texts of a table, without the blank one; for the API description. */
export function textsOf(table: ReadonlyMap<string, unknown>): string[] {
  return [...table.keys()].filter((name) => name !== '');
}

/** undefined unless `text` consists of an optional sign and digits. */
export function integerOf(value: string): number | undefined {
  const trimmed = value.trim();
  return /^[+-]?\d+$/.test(trimmed) ? Number(trimmed) : undefined;
}

function booleanOf(value: string, name: string): boolean {
  const known = booleans.get(value.trim());
  if (known === undefined) throw invalidParameter(name);
  return known;
}
