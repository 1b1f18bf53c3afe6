import type { Caller } from '../../rules/caller.ts';
import { builder } from '../builder.ts';
import type { Author, Change } from '../changes.ts';

/** What the audit log can be about, as it is stored. */
export const auditResources = ['client', 'tunnel', 'host', 'user', 'apiToken', 'globalSettings', 'session', 'failedAttempt', 'lockout', 'connection'] as const satisfies readonly Change['resource'][];

/** What can happen to it, as it is stored. */
export const auditActions = ['create', 'update', 'delete'] as const satisfies readonly Change['action'][];

/** Who can make a change, as it is stored. */
export const callerKinds = ['admin', 'user', 'client', 'anonymous', 'server'] as const satisfies readonly Author['kind'][];

/** How callers prove who they are, as it is stored. */
export const callerMethods = ['signature', 'session', 'token', 'password', 'vkey'] as const satisfies readonly NonNullable<Caller['by']>[];

/** What a change was about. */
export const AuditResource = builder.enumType('AuditResource', {
  description: 'What a change was about.',
  values: {
    CLIENT: { value: 'client', description: 'A client.' },
    TUNNEL: { value: 'tunnel', description: 'A tunnel.' },
    HOST: { value: 'host', description: 'A host.' },
    USER: { value: 'user', description: 'A user.' },
    API_TOKEN: { value: 'apiToken', description: 'An API token.' },
    GLOBAL_SETTINGS: { value: 'globalSettings', description: 'The global settings, with the platform domains.' },
    SESSION: { value: 'session', description: 'A session: CREATE is a login, DELETE a logout.' },
    FAILED_ATTEMPT: { value: 'failedAttempt', description: 'A wrong password or key, the first from an address in a while.' },
    LOCKOUT: { value: 'lockout', description: 'An address or a name that has to wait after too many wrong attempts; DELETE = an administrator freed it.' },
    CONNECTION: { value: 'connection', description: "A visitor's connection that somebody closed." },
  } as const satisfies Record<string, { value: Change['resource']; description: string }>,
});

/** What happened. */
export const AuditAction = builder.enumType('AuditAction', {
  description: 'What happened to what was changed.',
  values: {
    CREATE: { value: 'create', description: 'It was made.' },
    UPDATE: { value: 'update', description: 'It was changed.' },
    DELETE: { value: 'delete', description: 'It was deleted, or ended.' },
  } as const,
});

/** Who made a change. */
export const CallerKind = builder.enumType('CallerKind', {
  description: 'Who made a change.',
  values: {
    ADMINISTRATOR: { value: 'admin', description: 'An administrator.' },
    USER: { value: 'user', description: 'An ordinary user.' },
    CLIENT: { value: 'client', description: 'The web login of a client, or its agent.' },
    ANONYMOUS: { value: 'anonymous', description: 'Somebody who had not proven who they are.' },
    SERVER: { value: 'server', description: 'The server itself.' },
  } as const,
});

/** How a caller proved who they are. */
export const CallerMethod = builder.enumType('CallerMethod', {
  description: 'How a caller proved who they are.',
  values: {
    SIGNATURE: { value: 'signature', description: 'By the auth_key.' },
    SESSION: { value: 'session', description: 'By the cookie of a login.' },
    TOKEN: { value: 'token', description: 'By an API token.' },
    PASSWORD: { value: 'password', description: 'By name and password in the request.' },
    VKEY: { value: 'vkey', description: "By a client's verification key: an agent." },
  } as const,
});
