import { GraphQLError } from 'graphql';

/**
 * How graphql-js words what is wrong with a value, which it quotes. What is quoted can be a password: error answers end up in the logs of
 * callers and proxies, so only the place and the rule are told.
 */
const quoting: readonly (readonly [message: RegExp, told: string])[] = [
  [/^(Syntax Error: .*?(?:String|BlockString|Name|Int|Float)) "[^]*$/, '$1.'],
  [/^(Syntax Error: (?:Cannot parse|Invalid|Unexpected) [^":]*)[":][^]*$/, '$1.'],
  [/^((?:Int|Float|String|Boolean|ID|Enum "\w+") cannot represent [^:]*?)(?: value)?: [^]*$/, '$1 value'],
  [/^Value "[^]*" does not exist in ("\w+" enum\.)[^]*$/, 'Value does not exist in $1'],
  [/^Expected value of type ("[^"]+"), found [^]*$/, 'Expected a value of type $1'],
  [/^(Argument "\w+") has invalid value [^]*$/, '$1 has an invalid value'],
];

/** An error of GraphQL itself without the values that it quotes. */
export function withoutValues(error: GraphQLError): GraphQLError {
  // Where the body is no JSON, yoga puts the parser's message here, which quotes it. That something is here makes it answer 400.
  if (error.extensions['originalError'] !== undefined) error.extensions['originalError'] = {};
  const message = plain(error);
  if (message === error.message) return error;
  const { nodes, source, positions, path, extensions } = error;
  return new GraphQLError(message, { nodes, source, positions, path, extensions });
}

function plain({ message, originalError }: GraphQLError): string {
  // The part after the value is the message of the error that it wraps.
  const reason = originalError instanceof GraphQLError && message.endsWith(`; ${originalError.message}`) ? originalError : undefined;
  const own = reason === undefined ? message : message.slice(0, -reason.message.length - 2);
  const tail = reason === undefined ? '' : `; ${plain(reason)}`;
  const variable = /^Variable "\$\w+" got invalid value /.exec(own)?.[0];
  if (variable !== undefined) return `${variable.trim()}${/ at "[\w.[\]]+"$/.exec(own)?.[0] ?? ''}${tail}`;
  const [pattern, told = ''] = quoting.find(([quotes]) => quotes.test(own)) ?? [];
  return (pattern === undefined ? own : own.replace(pattern, told)) + tail;
}
