import { GraphQLError } from 'graphql';

/**
 * Messages of graphql-js that quote a value. The value may be a password, and callers and proxies log error responses,
 * so the replacement contains only the location and the rule.
 */
const quoting: readonly (readonly [message: RegExp, replacement: string])[] = [
  [/^(Syntax Error: .*?(?:String|BlockString|Name|Int|Float)) "[^]*$/, '$1.'],
  [/^(Syntax Error: (?:Cannot parse|Invalid|Unexpected) [^":]*)[":][^]*$/, '$1.'],
  [/^((?:Int|Float|String|Boolean|ID|Enum "\w+") cannot represent [^:]*?)(?: value)?: [^]*$/, '$1 value'],
  [/^Value "[^]*" does not exist in ("\w+" enum\.)[^]*$/, 'Value does not exist in $1'],
  [/^Expected value of type ("[^"]+"), found [^]*$/, 'Expected a value of type $1'],
  [/^(Argument "\w+") has invalid value [^]*$/, '$1 has an invalid value'],
];

/** Removes quoted values from an error of GraphQL itself. */
export function withoutValues(error: GraphQLError): GraphQLError {
  // If the body is not JSON, yoga stores the parser's message here, which quotes the body. Yoga responds with 400 if it is set.
  if (error.extensions['originalError'] !== undefined) error.extensions['originalError'] = {};
  const message = plain(error);
  if (message === error.message) return error;
  const { nodes, source, positions, path, extensions } = error;
  return new GraphQLError(message, { nodes, source, positions, path, extensions });
}

function plain({ message, originalError }: GraphQLError): string {
  // The part after the value is the message of the wrapped error.
  const reason = originalError instanceof GraphQLError && message.endsWith(`; ${originalError.message}`) ? originalError : undefined;
  const own = reason === undefined ? message : message.slice(0, -reason.message.length - 2);
  const tail = reason === undefined ? '' : `; ${plain(reason)}`;
  const variable = /^Variable "\$\w+" got invalid value /.exec(own)?.[0];
  if (variable !== undefined) return `${variable.trim()}${/ at "[\w.[\]]+"$/.exec(own)?.[0] ?? ''}${tail}`;
  const [pattern, replacement = ''] = quoting.find(([quotes]) => quotes.test(own)) ?? [];
  return (pattern === undefined ? own : own.replace(pattern, replacement)) + tail;
}
