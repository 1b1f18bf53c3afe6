import { GraphQLError, type ValueNode, valueFromASTUntyped } from 'graphql';
import { byteCount, MOST_BYTES } from '../rules/byte-count.ts';
import { builder } from './builder.ts';
import { errorCodes } from './error-codes.ts';

/** Maximum of a limit, given by its column. */
const MOST_INT = 2 ** 31 - 1;

/** The functions of a scalar that read a value: in a variable, and in the text of an operation, where the error has the place. */
function read<Value>(parseValue: (value: unknown) => Value) {
  const parseLiteral = (node: ValueNode, variables?: Record<string, unknown> | null): Value => {
    try {
      return parseValue(valueFromASTUntyped(node, variables));
    } catch (error) {
      throw error instanceof GraphQLError ? new GraphQLError(error.message, { nodes: node }) : error;
    }
  };
  return { parseValue, parseLiteral };
}

/** RFC 3339 with a zone, so that a time is unambiguous. */
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/i;

builder.scalarType('DateTime', {
  description: 'A moment as ISO 8601 text with its zone, such as 2027-01-31T12:00:00Z. Returned in UTC.',
  serialize: (value) => value.toISOString(),
  ...read((value) => {
    const moment = typeof value === 'string' && dateTime.test(value) ? new Date(value) : undefined;
    if (moment === undefined || Number.isNaN(moment.getTime())) {
      throw new GraphQLError('DateTime: expected ISO 8601 text with its zone, such as 2027-01-31T12:00:00Z');
    }
    return moment;
  }),
});

builder.scalarType('Bytes', {
  description: 'A number of bytes, an integer from 0 to 9007199254740991.',
  // A list stays readable whatever value is stored.
  serialize: byteCount,
  ...read((value) => wholeNumber('Bytes', value, MOST_BYTES)),
});

builder.scalarType('BytesPerSecond', {
  description: 'A rate in bytes per second, an integer from 0 to 9007199254740991.',
  serialize: byteCount,
  ...read((value) => wholeNumber('BytesPerSecond', value, MOST_BYTES)),
});

builder.scalarType('KibPerSecond', {
  description: `A rate limit in KiB (1024 bytes) per second, an integer from 0 to ${MOST_INT}.`,
  serialize: (value) => value,
  ...read((value) => wholeNumber('KibPerSecond', value, MOST_INT)),
});

builder.scalarType('Mebibytes', {
  description: `An amount of traffic in MiB (1048576 bytes), an integer from 0 to ${MOST_INT}.`,
  serialize: (value) => value,
  ...read((value) => wholeNumber('Mebibytes', value, MOST_INT)),
});

builder.scalarType('JSON', {
  description: 'A JSON value, such as an object with the columns of a record. Never used in input.',
  serialize: (value) => value,
  parseValue: () => {
    throw new GraphQLError('JSON: not taken as input');
  },
});

builder.scalarType('Port', {
  description: 'A port, an integer from 1 to 65535.',
  serialize: (value) => wholeNumber('Port', value, 65_535),
  ...read((value) => wholeNumber('Port', value, 65_535, 1)),
});

/** Every error code, from the table of errors. */
export const ErrorCodeType = builder.enumType('ErrorCode', {
  description: 'The error codes: `extensions.code`, and the `code` of each entry of `extensions.problems`.',
  values: errorCodes,
});

function wholeNumber(scalar: string, value: unknown, most: number, least = 0): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new GraphQLError(`${scalar}: expected a whole number from ${least} to ${most}`);
}
