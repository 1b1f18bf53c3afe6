import * as z from 'zod';

/** Most servers of which a server tells an agent: enough to find one that runs. */
export const MAX_OTHER_SERVERS = 32;

const port = z.int().min(1).max(65_535);

/** Another server of the installation, where agents and visitor programs reach its bridge: a name or an address, and the ports without and with TLS. */
const otherServer = z.object({ host: z.string().regex(/^(?:[\w.-]{1,253}|[\da-f:.]{2,45})$/i), port, tlsPort: port });
/** @see otherServer */
export type OtherServer = z.output<typeof otherServer>;

/** All other servers of the installation that the session could be with: it replaces what was sent before. */
export const otherServersSchema = z.object({
  type: z.literal('servers'),
  servers: z.array(otherServer).max(MAX_OTHER_SERVERS),
  /** There are others at the address of this session, too: the system gives each connection to one of them. */
  here: z.boolean().default(false),
});
/** @see otherServersSchema */
export type OtherServersMessage = z.output<typeof otherServersSchema>;
/** Where the session could be instead. */
export type OtherServers = Omit<OtherServersMessage, 'type' | 'servers'> & { readonly servers: readonly OtherServer[] };

/** Whether there is any other server. */
export function areSeveral({ servers, here }: OtherServers): boolean {
  return here || servers.length > 0;
}
