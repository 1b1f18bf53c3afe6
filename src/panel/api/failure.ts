import type { CombinedError } from 'urql';
import * as z from 'zod/mini';
import type { ErrorCode } from '../generated/graphql.ts';
import type { Messages } from '../language/en/index.ts';

const Problem = z.object({
  code: z.optional(z.string()),
  field: z.optional(z.string()),
  message: z.optional(z.string()),
  reason: z.optional(z.string()),
  free: z.optional(z.number()),
  tunnelId: z.optional(z.number()),
  tunnelRemark: z.optional(z.string()),
  hostId: z.optional(z.number()),
});
const Extensions = z.object({ ...Problem.shape, id: z.optional(z.string()), problems: z.optional(z.array(Problem)) });

/** What GraphQL says in front of the reason that a value of a field is wrong. */
const beforeReason = /^Variable "\$\w+" got invalid value(?: at "[^"]*")?; (?:\w+: )?/;

const WithStatus = z.object({ status: z.number() });

/** The HTTP status of a response with an error; undefined = no response. */
export function statusOf(error: CombinedError | undefined): number | undefined {
  const response: unknown = error?.response;
  return WithStatus.safeParse(response).data?.status;
}

/** What is wrong with one field of an input. */
interface FieldProblem {
  /** The path below `input`, such as `targets.0`; undefined = the whole input. */
  readonly field: string | undefined;
  readonly text: string;
}

/** A refused or failed request, for people. */
export interface FailureText {
  readonly text: string;
  readonly code: ErrorCode | undefined;
  readonly fields: readonly FieldProblem[];
}

/** The texts of an error, in the chosen language where the server's code says enough. */
export function failureOf(error: CombinedError, t: Messages): FailureText {
  const [first] = error.graphQLErrors;
  if (first === undefined) return { text: t.errors.unreachable, code: undefined, fields: [] };
  const extensions = Extensions.safeParse(first.extensions);
  if (!extensions.success) return { text: first.message, code: undefined, fields: [] };
  const { problems, id, code } = extensions.data;
  const own = { ...extensions.data, message: first.message };
  const text = code === 'INTERNAL' && id !== undefined ? t.errors.logId(id) : textOf(own, t);
  const fields = (problems ?? [own]).filter(({ field }) => field !== undefined).map((problem) => ({
    field: problem.field?.replace(/^input\.?/, ''),
    text: textOf(problem, t),
  }));
  return { text, code: isCode(code, t) ? code : undefined, fields };
}

/** The text of a problem. */
export function textOf(problem: z.infer<typeof Problem>, t: Messages): string {
  const { code, message = '', reason, free } = problem;
  const known = isCode(code, t) ? t.errors.codes[code] : undefined;
  const text = inTheWay(problem, t) ?? known ?? t.errors.reason((code === 'INVALID_INPUT' ? reason : undefined) ?? message.replace(beforeReason, ''));
  return text.charAt(0).toUpperCase() + text.slice(1) + (free === undefined ? '' : t.errors.portFree(String(free)));
}

/** The text of a problem that another record causes; undefined = the server does not name it. */
function inTheWay({ code, tunnelId, tunnelRemark, hostId }: z.infer<typeof Problem>, t: Messages): string | undefined {
  if (code === 'PORT_UNAVAILABLE' && tunnelId !== undefined) return t.errors.portTaken(tunnelRemark || t.tunnels.nameless(String(tunnelId)));
  if (code === 'HOST_EXISTS' && hostId !== undefined) return t.errors.hostTaken(String(hostId));
  return undefined;
}

function isCode(code: string | undefined, t: Messages): code is ErrorCode {
  return code !== undefined && Object.hasOwn(t.errors.codes, code);
}
