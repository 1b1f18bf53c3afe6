import type { SessionEnd } from '../face.ts';

/** Why the server ends or refuses a session: the code for the agent, and the text for its operator. */
export const reasons = {
  'unknown-key': 'the server does not know this vkey',
  busy: 'too many wrong keys came from this address: try again later',
  crowded: 'too many connect at the same time',
  'too-often': 'its sessions begin too often',
  disabled: 'the client is disabled',
  expired: 'the client has expired',
  deleted: 'the client was deleted',
  'key-changed': 'the vkey of the client was changed',
  replaced: 'another agent connected with the same vkey',
  shutdown: 'the server is shutting down',
  'tls-needed': 'the client is served over TLS only',
  'transport-changed': 'the transport of the client was changed',
  'no-data-connections': 'a session over TLS has no data connections',
  'tunnel-stopped': 'the tunnel is stopped',
  'tunnel-changed': 'the password or the type of the tunnel was changed',
  'wrong-type': 'the tunnel is of another type',
  'too-many': 'the tunnel has too many visitors',
  'config-refused': 'the client may not use a configuration file (config_conn_allow is off)',
  starting: 'the server is just starting',
  'too-much-declared': 'the agent declared more at once than a session may',
  'same-server': 'the agent is connected to this server: its session in reserve must be with another one',
  'same-name': 'another server of the installation has the same name',
  'bad-info': 'the peer describes itself in a way that the server does not understand',
} as const;

/** @see reasons */
export type Reason = keyof typeof reasons;

/** The reasons for which the server ends the sessions of agents, as the API names them. */
export const sessionEndOf: Readonly<Partial<Record<Reason, SessionEnd>>> = {
  replaced: 'replaced',
  disabled: 'disabled',
  expired: 'expired',
  'key-changed': 'keyChanged',
  'transport-changed': 'transportChanged',
  'config-refused': 'configRefused',
  'too-much-declared': 'tooMuchDeclared',
  shutdown: 'serverStopped',
};
