import type { FieldNames } from './errors.ts';
import type { Parameter, Parameters, Values } from './parameters.ts';

/** A parameter that sets a field of a GraphQL input. */
export interface Setting<Field extends string, T> extends Parameter<T> {
  readonly field: Field;
}

/** Marks a parameter as the one that sets a field. No other code maps parameters to fields. */
export function sets<const Field extends string, T>(field: Field, parameter: Parameter<T>): Setting<Field, T> {
  return { ...parameter, field };
}

/** Converts an empty text, which means "none" in the legacy API, to null. */
export function noneAtEmpty(parameter: Parameter<string | undefined>): Parameter<string | null | undefined> {
  return withNone(parameter, '');
}

/** Converts 0, which means "none" in the legacy API, to null. */
export function noneAt0(parameter: Parameter<number | undefined>): Parameter<number | null | undefined> {
  return withNone(parameter, 0);
}

function withNone<T>(parameter: Parameter<T | undefined>, none: T): Parameter<T | null | undefined> {
  return {
    ...parameter,
    read: (text, name) => {
      const value = parameter.read(text, name);
      return value === none ? null : value;
    },
  };
}

/** The input that results from the parameters: all fields that one of them sets. */
export type InputOf<P extends Parameters> = {
  readonly [Name in keyof P as P[Name] extends Setting<infer Field, unknown> ? Field : never]: P[Name] extends Parameter<infer T> ? T : never;
};

/** All fields of an input: a function that returns this type can't forget a field that is added to the schema. @template Left the fields that no parameter sets */
export type Complete<Input, Left extends keyof Input = never> = { readonly [Field in Exclude<keyof Input, Left>]-?: Input[Field] | undefined };

/**
 * A fragment, which must have every field of the input that sets the record's values.
 * @template Left the input's fields that the fragment lacks: secrets, and fields that it has under another name
 */
export type ReadsBack<Fragment extends Record<Exclude<keyof Input, Left>, unknown>, Input, Left extends keyof Input = never> = Fragment;

/** The input of a call. @param parameters those that don't set a field are ignored */
export function inputOf<P extends Parameters>(parameters: P, values: Values<P>): InputOf<P> {
  const input: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    if (isSetting(parameter)) input[parameter.field] = values[name];
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field holds what its parameter returned, as Values says
  return input as InputOf<P>;
}

/** The parameter of each field, so that errors use the names that callers sent. */
export function fieldNames(parameters: Parameters): FieldNames {
  return Object.fromEntries(Object.entries(parameters).flatMap(([name, parameter]) => isSetting(parameter) ? [[parameter.field, name]] : []));
}

function isSetting(parameter: Parameter<unknown>): parameter is Setting<string, unknown> {
  return 'field' in parameter;
}
