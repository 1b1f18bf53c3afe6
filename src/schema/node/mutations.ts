import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import type { NodeState } from '../../store/nodes.ts';
import { Node } from './type.ts';

const name = 'The `name` as returned by `nodes`.';

builder.mutationField('drainNode', (t) =>
  t.field({
    type: Node,
    authScopes: { administrator: true },
    description:
      'Sends the agents and visitors of a server to the others. `/readyz` of the server fails, so load balancers use the others. Its ports stay open, and it still forwards the connections that come, until it is stopped or `undrainNode` is called. Returns at once: the server is empty when `nodes` says so. For administrators.',
    args: { name: t.arg.string({ required: true, description: name }) },
    resolve: (_root, args, context) => setDraining(context, args.name, true),
  }));

builder.mutationField('undrainNode', (t) =>
  t.field({
    type: Node,
    authScopes: { administrator: true },
    description:
      'Ends what `drainNode` has begun: the server accepts agents again, and `/readyz` passes. Agents that have left do not come back by themselves. A server that is started again does not drain either. For administrators.',
    args: { name: t.arg.string({ required: true, description: name }) },
    resolve: (_root, args, context) => setDraining(context, args.name, false),
  }));

/** Stores what the server follows. */
function setDraining(context: Context, named: string, draining: boolean): Promise<NodeState> {
  return context.write(async (tx, changed) => {
    // As earlier writes of this transaction have left them.
    const nodes = await context.store.nodes(tx);
    const node = nodes.find(({ name }) => name === named);
    if (node === undefined) throw new AditError('NOT_FOUND', { resource: 'node' }, `no server has the name ${named}`);
    // Written before it is judged: on a database that accepts no changes, no server can report that it runs.
    await tx.node.updateMany({ where: { name: named }, data: { draining } });
    if (!node.alive) throw new AditError('NODE_NOT_RUNNING', { name: named });
    if (draining && !nodes.some((other) => other.name !== named && other.alive && !other.draining)) throw new AditError('NODE_ALONE');
    if (node.draining === draining) return node;
    changed({ resource: 'node', action: 'update', before: { name: named, draining: node.draining }, after: { name: named, draining } });
    return { ...node, draining };
  });
}
