import type { NodeState, UnreachableFrom } from '../../store/nodes.ts';
import { builder } from '../builder.ts';
import { textOrNull } from '../values/empty.ts';

const UnreachableFromType = builder.objectRef<UnreachableFrom>('UnreachableFrom').implement({
  description: 'A server that cannot reach another one.',
  fields: (t) => ({
    node: t.exposeString('node', { description: 'The `name` of the server that cannot reach it.' }),
    since: t.expose('since', { type: 'DateTime', description: 'Since when.' }),
    problem: t.exposeString('problem', { description: 'Why the last attempt failed.' }),
  }),
});

/** A server of the installation. */
export const Node = builder.objectRef<NodeState>('Node').implement({
  description: 'A server process, as it last reported, at most a few seconds ago.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name: the setting `ADIT_NODE`, or else the host name of its first start.' }),
    address: t.string({
      nullable: true,
      description: 'The address of its bridge, `host:port`; null = the setting `ADIT_NODE_ADDRESS` is empty.',
      resolve: ({ address }) => textOrNull(address),
    }),
    version: t.exposeString('version', { description: 'The version of its program.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it was started.' }),
    lastReportAt: t.expose('seenAt', { type: 'DateTime', description: 'When it last reported. All figures are from then.' }),
    stopped: t.exposeBoolean('stopped', { description: 'It was stopped, rather than killed or cut off from the database.' }),
    alive: t.exposeBoolean('alive', { description: 'It has reported within the last 10 seconds, and has not been stopped.' }),
    draining: t.exposeBoolean('draining', {
      description:
        'It sends agents and visitors to other servers: `drainNode` has asked for it, or it is stopping. A server that is started again does not drain.',
    }),
    agents: t.exposeInt('agents', { description: 'The number of agents that are connected to it.' }),
    connections: t.exposeInt('connections', { description: "The number of visitors' open connections." }),
    load: t.exposeFloat('load', { description: 'The share of the time in which its event loop was busy, from 0 to 1.' }),
    lagSeconds: t.float({
      description: 'The time since it last read the log of changes to its end. Zero if that was within the last two seconds, or if it uses SQLite.',
      resolve: ({ lagMs }) => lagMs / 1000,
    }),
    unreachableFrom: t.field({
      type: [UnreachableFromType],
      description:
        'The running servers that cannot connect to it, as they last reported. Visitors who come to them cannot reach the agents that are connected to it. Empty if it is not running.',
      resolve: ({ unreachableFrom }) => [...unreachableFrom],
    }),
    differentSettings: t.stringList({
      description:
        'The settings that must be the same on all servers, and are not the same there as on the server that answers, by their names in `adit.toml`. The one of both that was started later is not ready.',
      resolve: async ({ name }, _args, { engine }) => [...(await engine.differentSettings()).find(({ node }) => node === name)?.settings ?? []],
    }),
  }),
});
