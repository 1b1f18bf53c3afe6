import { canonicalAddress } from '../../rules/ip-address.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { invalidInput } from '../errors.ts';

/** What became of a visitor who said a client's password. */
type VisitorAnswer = 'letIn' | 'unknownKey' | 'wrongPassword';

const VisitorAnswerType = builder.enumType('VisitorAnswer', {
  description: "What became of a visitor who said a client's password.",
  values: {
    LET_IN: { value: 'letIn', description: 'Connections from the address are let in for two hours, whatever the whitelist says.' },
    UNKNOWN_KEY: { value: 'unknownKey', description: 'No client that lets visitors in by a password has this key.' },
    WRONG_PASSWORD: { value: 'wrongPassword', description: 'The password is another, or too many wrong ones were said.' },
  } satisfies Record<string, { readonly value: VisitorAnswer; readonly description: string }>,
});

builder.mutationField('letVisitorIn', (t) => t.field({
  type: VisitorAnswerType,
  // Visitors are strangers: the password alone decides.
  skipTypeScopes: true,
  authScopes: { anyone: true },
  description: 'Lets the visitors of an address in for two hours who would not be on the whitelist of a client.',
  args: {
    keyDigest: t.arg.string({ required: true, description: "MD5 of the client's verification key, in hex." }),
    password: t.arg.string({ required: true, description: 'The `ipWhitePassword` of the client.' }),
    address: t.arg.string({ description: "The address to let in; absent = the caller's." }),
  },
  resolve: (_root, { keyDigest, password, address }, context) => letVisitorIn(context, keyDigest, password, address ?? context.caller.address ?? ''),
}));

/** Contract 3.2, /auth/ipwhiteauth, and D14. @throws {AditError} INVALID_INPUT when the address is none */
async function letVisitorIn(context: Context, keyDigest: string, password: string, address: string): Promise<VisitorAnswer> {
  const { caller, engine, attempts } = context;
  const visitor = canonicalAddress(address);
  if (visitor === undefined) throw invalidInput('address', 'not an IP address');
  const clientId = await engine.clientOfVisitors(keyDigest.toLowerCase());
  const name = clientId === undefined ? 'no client' : `client ${clientId}`;
  const attempt = attempts.begin('ipWhitePassword', caller.address ?? '', name, context.now());
  if (attempt.wait > 0) return 'wrongPassword';
  if (clientId === undefined || !await engine.letIn(clientId, visitor, password)) {
    attempt.failed();
    return clientId === undefined ? 'unknownKey' : 'wrongPassword';
  }
  attempt.succeeded();
  context.log.info({ clientId, address: visitor }, 'a visitor let himself in by the password');
  return 'letIn';
}
