import type { Caller } from '../../rules/caller.ts';
import { enumOf, keysOf } from '../values/enum.ts';
import type { Author, Change } from '../writes/changes.ts';

const auditResourceTexts: Readonly<Record<Change['resource'], string>> = {
  client: 'A client.',
  tunnel: 'A tunnel.',
  host: 'A host.',
  user: 'A user.',
  apiToken: 'An API token.',
  enrolment: 'A code that installs an agent. UPDATE: a machine used it.',
  globalSettings: 'The global settings, including the platform domains.',
  session: 'A session: CREATE is a login, DELETE a logout.',
  failedAttempt: 'A failed attempt with a password or key. Of repeated attempts from one address, only the first is recorded.',
  lockout: 'An address or a name that is locked out after too many failed attempts. DELETE: an administrator ended the lockout.',
  node: 'A server, which is to drain or no longer.',
  acmeOrder: 'An order of a certificate with ACME, which a caller retried. The id is that of the host.',
  installationKey: 'The key that the servers of the installation share, which "adit nodes rotate-key" began to change.',
  import: 'Records of another server, all at once: their numbers, not the records themselves.',
  connection: "A visitor's connection that was closed by a request.",
};

/** The kind of a changed object. */
export const AuditResource = enumOf('AuditResource', 'What was changed.', auditResourceTexts);

/** The stored values of {@link AuditResource}. */
export const auditResources = keysOf(auditResourceTexts);

const auditActionTexts: Readonly<Record<Change['action'], string>> = {
  create: 'It was created.',
  update: 'It was changed.',
  delete: 'It was deleted or ended.',
};

/** The kind of change. */
export const AuditAction = enumOf('AuditAction', 'The kind of change.', auditActionTexts);

/** The stored values of {@link AuditAction}. */
export const auditActions = keysOf(auditActionTexts);

const callerKindTexts: Readonly<Record<Author['kind'], string>> = {
  admin: 'An administrator.',
  user: 'An ordinary user.',
  client: 'The web login of a client, or its agent.',
  anonymous: 'An unauthenticated caller.',
  server: 'The server itself.',
};

/** The author of a change. */
export const CallerKind = enumOf('CallerKind', 'Who made a change.', callerKindTexts, { admin: 'ADMINISTRATOR' });

/** The stored values of {@link CallerKind}. */
export const callerKinds = keysOf(callerKindTexts);

const callerMethodTexts: Readonly<Record<NonNullable<Caller['by']>, string>> = {
  signature: 'With a signature made with the auth_key.',
  session: 'With the session cookie of a login.',
  token: 'With an API token.',
  password: 'With a user name and password in the request.',
  vkey: "With a client's verification key. The caller is an agent.",
};

/** How a caller was authenticated. */
export const CallerMethod = enumOf('CallerMethod', 'How a caller authenticated.', callerMethodTexts);

/** The stored values of {@link CallerMethod}. */
export const callerMethods = keysOf(callerMethodTexts);
