import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { type GraphQLEnumType, isEnumType } from 'graphql';
import type { Logger } from 'pino';
import * as z from 'zod';
import { shareOf } from '../rules/caller.ts';
import { resourceName } from '../schema/audit/names.ts';
import { AditError, invalidInput, isOutage, maskedError } from '../schema/errors.ts';
import { schema } from '../schema/schema.ts';
import type { Services } from '../schema/services.ts';
import type { HttpCallers } from './callers.ts';
import { authenticate } from './graphql-authentication.ts';
import { isNavigation } from './navigation.ts';

type Store = Services['store'];
type Entry = Store extends { auditPages: (...args: never[]) => AsyncGenerator<readonly (infer Row)[], void, undefined> } ? Row : never;

const columns = [
  'id',
  'at',
  'callerKind',
  'callerId',
  'callerName',
  'method',
  'tokenName',
  'address',
  'resource',
  'resourceId',
  'resourceName',
  'action',
  'before',
  'after',
] as const;
type Shown = Readonly<Record<typeof columns[number], unknown>>;

const enums = {
  resource: enumType('AuditResource'),
  action: enumType('AuditAction'),
  callerKind: enumType('CallerKind'),
  method: enumType('CallerMethod'),
};
const text = z.string().max(1000).refine((given) => !given.includes('\0'));
const recordId = z.coerce.number().int().positive().max(2 ** 31 - 1);
const moment = z.iso.datetime({ offset: true }).transform((given) => new Date(given));
/** The conditions of `AuditEntryFilter` and the search, as parameters of the address. */
const parameters = z.object({
  resource: oneOf('resource'),
  action: oneOf('action'),
  callerKind: oneOf('callerKind'),
  resourceId: text,
  callerId: recordId,
  from: moment,
  to: moment,
  beforeId: recordId,
  search: text,
}).partial();

/** How many downloads a caller can have at a time. */
const mostDownloads = 2;

/**
 * `/audit/download.ndjson` and `/audit/download.csv`: the audit log as a stream, with the conditions of `auditEntries`, for administrators. It reads on as fast as the
 * caller does, so that a log of any size takes the memory of a page.
 */
export function auditDownload({ store, now }: Pick<Services, 'store' | 'now'>, callers: HttpCallers, log: Logger): RequestHandler {
  const running = new Map<string, number>();

  async function send(request: Request, response: Response, format: keyof typeof formats): Promise<void> {
    const who = await authenticate(callers, request);
    if (who.kind !== 'known') {
      if (who.kind === 'refused' && isNavigation(request)) response.set('WWW-Authenticate', 'Basic realm="adit", charset="UTF-8"');
      return fail(response, who.kind === 'tooManyFailures' ? 429 : 401, new AditError('UNAUTHENTICATED'));
    }
    const { caller } = who;
    if (caller.kind !== 'admin' || caller.wall === true) return fail(response, 403, new AditError('FORBIDDEN'));
    const given = parameters.safeParse(request.query);
    if (!given.success) return fail(response, 400, wrongParameter(given.error));
    const share = shareOf(caller);
    const present = running.get(share) ?? 0;
    if (present >= mostDownloads) return fail(response, 429, new AditError('TOO_MANY_OPERATIONS'));
    running.set(share, present + 1);
    try {
      const { type, head, line } = formats[format];
      const text = linesOf(store, log, given.data, head, line);
      // Before the response begins, so that an error still has a status.
      const first = await text.next();
      response.set({
        'Cache-Control': 'no-store',
        'Content-Disposition': `attachment; filename="adit-audit-${new Date(now()).toISOString().slice(0, 10)}.${format}"`,
      });
      response.type(type);
      await pipeline(Readable.from(after(first, text), { objectMode: false, highWaterMark: 1 }), response);
    } catch (error) {
      // Any other error means that the caller has gone.
      if (error instanceof AditError && !response.headersSent) fail(response, statusOf(error), error);
    } finally {
      const left = (running.get(share) ?? 1) - 1;
      if (left > 0) running.set(share, left);
      else running.delete(share);
    }
  }

  return Router()
    .get('/audit/download.ndjson', (request, response) => send(request, response, 'ndjson'))
    .get('/audit/download.csv', (request, response) => send(request, response, 'csv'));
}

const formats = {
  ndjson: { type: 'application/x-ndjson', head: '', line: (entry: Shown) => `${JSON.stringify(entry)}\n` },
  csv: { type: 'text/csv', head: `${columns.join(',')}\r\n`, line: (entry: Shown) => `${columns.map((column) => cell(entry[column])).join(',')}\r\n` },
} as const;

/** The text of a download, a page of entries at a time. @throws {AditError} if the entries cannot be read; the error is in the log */
async function* linesOf(store: Store, log: Logger, conditions: Parameters<Store['auditPages']>[0], head: string, line: (entry: Shown) => string) {
  let before = head;
  try {
    for await (const rows of store.auditPages(conditions)) {
      const names = await namesOf(store, rows);
      yield before + rows.map((row) => line(shown(row, names))).join('');
      before = '';
    }
  } catch (error) {
    throw maskedError(error, log, 'a download of the audit log failed');
  }
  if (before !== '') yield before;
}

async function* after(first: IteratorResult<string, void>, others: AsyncGenerator<string, void>): AsyncGenerator<string, void> {
  if (!first.done) yield first.value;
  yield* others;
}

/** An entry as GraphQL returns it. */
function shown(row: Entry, names: ReadonlyMap<string, string>): Shown {
  const [before, after] = [parsed(row.before), parsed(row.after)];
  return {
    id: String(row.id),
    at: row.at.toISOString(),
    callerKind: enums.callerKind.serialize(row.callerKind),
    callerId: row.callerId === null ? null : String(row.callerId),
    callerName: names.get(`${row.callerKind} ${row.callerId}`) ?? null,
    method: row.method === '' ? null : enums.method.serialize(row.method),
    tokenName: row.tokenName || null,
    address: row.address || null,
    resource: enums.resource.serialize(row.resource),
    resourceId: row.resourceId,
    resourceName: resourceName(before, after),
    action: enums.action.serialize(row.action),
    before,
    after,
  };
}

/** The current names of the users and clients that made changes, by kind and id. */
async function namesOf({ db }: Store, rows: readonly Entry[]): Promise<ReadonlyMap<string, string>> {
  const idsOf = (kind: string) => [...new Set(rows.flatMap(({ callerKind, callerId }) => callerKind === kind && callerId !== null ? [callerId] : []))];
  const [users, clients] = await Promise.all([
    db.user.findMany({ where: { id: { in: idsOf('user') } }, select: { id: true, username: true } }),
    db.client.findMany({ where: { id: { in: idsOf('client') } }, select: { id: true, remark: true } }),
  ]);
  return new Map([
    ...users.map(({ id, username }): [string, string] => [`user ${id}`, username]),
    ...clients.flatMap(({ id, remark }): Array<[string, string]> => remark === '' ? [] : [[`client ${id}`, remark]]),
  ]);
}

/** A value of a CSV file. Spreadsheets would run a text that begins like a formula; names come from anybody who tries to log in. */
function cell(value: unknown): string {
  const plain = value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  return `"${(/^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain).replaceAll('"', '""')}"`;
}

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}

/** The status for an error that ended a download before it began. */
function statusOf({ code }: AditError): number {
  if (code === 'SEARCH_TOO_BROAD') return 400;
  return isOutage(code) ? 503 : 500;
}

function fail(response: Response, status: number, { message, extensions }: AditError): void {
  response.status(status).json({ errors: [{ message, extensions }] });
}

function wrongParameter({ issues: [issue] }: z.ZodError): AditError {
  return invalidInput(String(issue?.path[0] ?? ''), issue?.message ?? '');
}

function enumType(name: string): GraphQLEnumType {
  const type = schema.getType(name);
  if (!isEnumType(type)) throw new Error(`${name} is not an enum of the schema`);
  return type;
}

/** The stored value of an enum's name. */
function oneOf(name: keyof typeof enums) {
  return z.string().transform((given, context): string => {
    const value: unknown = enums[name].getValue(given)?.value;
    if (typeof value === 'string') return value;
    context.addIssue({ code: 'custom', message: 'no such value' });
    return z.NEVER;
  });
}
