import type { AuditEntry as AuditRow } from '../../store/generated/sqlite/client.ts';
import type { Page } from '../../store/hot/page.ts';
import { builder } from '../builder.ts';

/** A change that somebody made. */
export const AuditEntry = builder.prismaObject('AuditEntry', {
  description: 'A change that somebody made.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Later entries have larger ids.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
    callerKind: t.exposeString('callerKind', { description: 'Who made it: admin, user, client for the web login of a client, anonymous for somebody unknown, or server for the program itself.' }),
    callerId: t.exposeID('callerId', { nullable: true, description: "The user's or the client's id; null = somebody else." }),
    method: t.exposeString('method', { description: 'How they had proven who they are: signature, session, token, password or vkey; blank = not at all.' }),
    address: t.exposeString('address', { description: 'Where the call came from.' }),
    resource: t.exposeString('resource', { description: 'What was changed: client, tunnel, host, user, apiToken or globalSettings; session for logins and logouts, failedAttempt for wrong guesses (the first from an address in a while), lockout when too many followed, and when it was freed, connection for one that was cut by hand.' }),
    resourceId: t.exposeID('resourceId', { description: 'Its id: of a session the beginning, of a failed attempt the name that was tried, of a lockout its source.' }),
    action: t.exposeString('action', { description: 'create, update or delete.' }),
    before: t.exposeString('before', { nullable: true, description: 'The record before, as JSON; null = it was made. Secrets only say whether they were set.' }),
    after: t.exposeString('after', { nullable: true, description: 'The record after, as JSON; null = it was deleted. Secrets only say whether they are set or changed.' }),
  }),
});

/** A stretch of the audit log. */
export const AuditPage = builder.objectRef<Page<AuditRow>>('AuditPage').implement({
  description: 'A stretch of the audit log.',
  fields: (t) => ({
    rows: t.field({ type: [AuditEntry], description: 'The entries, the newest first.', resolve: (page) => page.rows }),
    total: t.exposeInt('total', { description: 'How many entries the whole selection has.' }),
  }),
});
