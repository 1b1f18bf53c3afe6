/** How a caller has proven who they are. */
export type ProvenBy = 'signature' | 'session' | 'token' | 'password' | 'vkey';

/** What is known of a caller besides the role: for the audit log and the rules about reading and logging in. */
export interface Credentials {
  /** Absent only where the program itself or a test makes the call. */
  readonly by?: ProvenBy;
  /** A token that may only read: every mutation is refused. */
  readonly readOnly?: boolean;
  /** A token that does not see keys and passwords. */
  readonly withoutSecrets?: boolean;
  /** A token for a display on a wall: it sees numbers and states only, by the one field that is for it. */
  readonly wall?: boolean;
  /** The caller's address, as the outermost trusted proxy saw it. */
  readonly address?: string;
  /** The session's key in the database: a changed password ends all others. */
  readonly sessionId?: string;
  /** The token the call was made with. */
  readonly tokenId?: number;
}

/** Who makes a call (contract 3.1, D27). Established once at the HTTP boundary, trusted after. */
export type Caller = Credentials & (
  | { readonly kind: 'admin' }
  /** An ordinary user, by login session or token. */
  | { readonly kind: 'user'; readonly userId: number }
  /** The legacy client login: sees one client. */
  | { readonly kind: 'client'; readonly clientId: number }
  | { readonly kind: 'anonymous' }
);

/**
 * Names the share of a bounded resource that a call counts towards: an account has one share, however it has proven who it is. Of the
 * administrator's tokens each has a share of its own, so that a wall display or a script leaves the administrator's alone.
 */
export function shareOf(caller: Caller): string {
  switch (caller.kind) {
    case 'user': return `user ${caller.userId}`;
    case 'client': return `client ${caller.clientId}`;
    case 'admin': return caller.tokenId === undefined ? 'admin' : `admin's token ${caller.tokenId}`;
    case 'anonymous': return caller.kind;
  }
}
