import type { Caller } from '../../rules/caller.ts';
import { enumOf, keysOf } from '../values/enum.ts';
import type { Author, Change } from '../writes/changes.ts';

const auditResourceTexts: Readonly<Record<Change['resource'], string>> = {
  client: 'A client.',
  tunnel: 'A tunnel.',
  host: 'A host.',
  user: 'A user.',
  apiToken: 'An API token.',
  globalSettings: 'The global settings, including the platform domains.',
  session: 'A session: CREATE is a login, DELETE a logout.',
  failedAttempt: 'A failed attempt with a password or key. Of repeated attempts from one address, only the first is recorded.',
  lockout: 'An address or a name that is locked out after too many failed attempts. DELETE: an administrator ended the lockout.',
  connection: "A visitor's connection that was closed by a request.",
};

/** What a change was about. */
export const AuditResource = enumOf('AuditResource', 'What was changed.', auditResourceTexts);

/** What the audit log can be about, as it is stored. */
export const auditResources = keysOf(auditResourceTexts);

const auditActionTexts: Readonly<Record<Change['action'], string>> = {
  create: 'It was created.',
  update: 'It was changed.',
  delete: 'It was deleted or ended.',
};

/** What happened. */
export const AuditAction = enumOf('AuditAction', 'The kind of change.', auditActionTexts);

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
  signature: 'With a signature made with the auth_key.',
  session: 'With the session cookie of a login.',
  token: 'With an API token.',
  password: 'With a user name and password in the request.',
  vkey: "With a client's verification key. The caller is an agent.",
};

/** How a caller proved who they are. */
export const CallerMethod = enumOf('CallerMethod', 'How a caller authenticated.', callerMethodTexts);

/** How callers prove who they are, as it is stored. */
export const callerMethods = keysOf(callerMethodTexts);
