import { builder } from './builder.ts';
import { errorCodes } from './errors.ts';

/** Every code that an error can have, made of the table of errors. No field has this type: it is in the schema so that clients get the codes as a type. */
export const ErrorCodeType = builder.enumType('ErrorCode', {
  description: 'The codes of errors: `extensions.code`, and `code` of each of its `extensions.problems`. No field returns one; it is here so that clients have the codes as a type.',
  values: errorCodes,
});
