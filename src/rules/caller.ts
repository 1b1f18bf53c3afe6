/** How a caller authenticated. */
type ProvenBy = 'signature' | 'session' | 'token' | 'password' | 'vkey';

/** Details of a caller in addition to the role, for the audit log and for the rules about reading and logging in. */
export interface Credentials {
  /** Absent if the program itself or a test makes the call. */
  readonly by?: ProvenBy;
  /** A read-only token: every mutation is refused. */
  readonly readOnly?: boolean;
  /** A token that sees no keys and passwords. */
  readonly withoutSecrets?: boolean;
  /** A token for a public display: it can only read the field `wall`. */
  readonly wall?: boolean;
  /** The caller's address, as reported by the outermost trusted proxy. */
  readonly address?: string;
  /** The session's key in the database. When the password changes, all other sessions end. */
  readonly sessionId?: string;
  /** The id of the token that the call uses. */
  readonly tokenId?: number;
  /** The name of that token. */
  readonly tokenName?: string;
}

/** Who makes a call (contract 3.1, D27). Authenticated once at the HTTP boundary, and trusted afterwards. */
export type Caller =
  & Credentials
  & (
    | { readonly kind: 'admin' }
    /** An ordinary user, by login session or token. */
    | { readonly kind: 'user'; readonly userId: number }
    /** The web login of a client: sees one client. */
    | { readonly kind: 'client'; readonly clientId: number }
    | { readonly kind: 'anonymous' }
  );

/**
 * The key under which a call is counted for shared limits. All calls of one account share a key, however they authenticated. Each token of
 * the administrator has its own key, so that a wall display or a script doesn't use up the administrator's limits.
 */
export function shareOf(caller: Caller): string {
  switch (caller.kind) {
    case 'user':
      return `user ${caller.userId}`;
    case 'client':
      return `client ${caller.clientId}`;
    case 'admin':
      return caller.tokenId === undefined ? 'admin' : `admin's token ${caller.tokenId}`;
    case 'anonymous':
      return caller.kind;
  }
}
