import type { Caller } from '../../rules/caller.ts';
import { enumOf, keysOf } from '../values/enum.ts';
import type { Author, Change } from '../writes/changes.ts';

const auditResourceTexts: Readonly<Record<Change['resource'], string>> = {
  client: 'A client.',
  tunnel: 'A tunnel.',
  host: 'A host.',
  user: 'A user.',
  apiToken: 'An API token.',
  globalSettings: 'The global settings, with the platform domains.',
  session: 'A session: CREATE is a login, DELETE a logout.',
  failedAttempt: 'A wrong password or key, the first from an address in a while.',
  lockout: 'An address or a name that has to wait after too many wrong attempts; DELETE = an administrator freed it.',
  connection: "A visitor's connection that was closed by a call.",
};

/** What a change was about. */
export const AuditResource = enumOf('AuditResource', 'What a change was about.', auditResourceTexts);

/** What the audit log can be about, as it is stored. */
export const auditResources = keysOf(auditResourceTexts);

const auditActionTexts: Readonly<Record<Change['action'], string>> = {
  create: 'It was made.',
  update: 'It was changed.',
  delete: 'It was deleted, or ended.',
};

/** What happened. */
export const AuditAction = enumOf('AuditAction', 'What happened to what was changed.', auditActionTexts);

/** What can happen to it, as it is stored. */
export const auditActions = keysOf(auditActionTexts);

const callerKindTexts: Readonly<Record<Author['kind'], string>> = {
  admin: 'An administrator.',
  user: 'An ordinary user.',
  client: 'The web login of a client, or its agent.',
  anonymous: 'An unauthenticated caller.',
  server: 'The server itself.',
};

/** Who made a change. */
export const CallerKind = enumOf('CallerKind', 'Who made a change.', callerKindTexts, { admin: 'ADMINISTRATOR' });

/** Who can make a change, as it is stored. */
export const callerKinds = keysOf(callerKindTexts);

const callerMethodTexts: Readonly<Record<NonNullable<Caller['by']>, string>> = {
  signature: 'By the auth_key.',
  session: 'By the cookie of a login.',
  token: 'By an API token.',
  password: 'By name and password in the request.',
  vkey: "By a client's verification key: an agent.",
};

/** How a caller proved who they are. */
export const CallerMethod = enumOf('CallerMethod', 'How a caller proved who they are.', callerMethodTexts);

/** How callers prove who they are, as it is stored. */
export const callerMethods = keysOf(callerMethodTexts);
