import { GraphQLError } from 'graphql';
import { byteCount, MOST_BYTES } from '../rules/byte-count.ts';
import { builder } from './builder.ts';

/** RFC 3339: with the zone, so that a time means the same wherever it is read. */
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/i;

builder.scalarType('DateTime', {
  description: 'A moment as ISO 8601 text with its zone, such as 2027-01-31T12:00:00Z. Answers are in UTC.',
  serialize: (value) => value.toISOString(),
  parseValue: (value) => {
    const moment = typeof value === 'string' && dateTime.test(value) ? new Date(value) : undefined;
    if (moment === undefined || Number.isNaN(moment.getTime())) {
      throw new GraphQLError('DateTime: expected ISO 8601 text with its zone, such as 2027-01-31T12:00:00Z');
    }
    return moment;
  },
});

builder.scalarType('ByteCount', {
  description: 'A number of bytes: a whole number from 0 to 9007199254740991.',
  // Whatever a row holds, its list is readable.
  serialize: byteCount,
  parseValue: givenByteCount,
});

builder.scalarType('Port', {
  description: 'A port: a whole number from 0 to 65535.',
  serialize: (value) => port(value),
  parseValue: port,
});

function givenByteCount(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_BYTES) return value;
  throw new GraphQLError('ByteCount: expected a whole number from 0 to 9007199254740991');
}

function port(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 65535) return value;
  throw new GraphQLError('Port: expected a whole number from 0 to 65535');
}
