import * as z from 'zod';
import { askOwnServer } from './own-server.ts';
import type { SettingsInput } from './settings/load.ts';

/** The commands, and the mutations that they run. */
const mutations = { drain: 'drainNode', undrain: 'undrainNode' } as const;

/**
 * Asks the server that has these settings to let a node drain, or no longer.
 * @returns what to print
 * @throws {SettingsError} if the settings are invalid
 * @throws {NodesError} if the server does not respond, or refuses
 */
export async function drainNode(input: SettingsInput, name: string, command: keyof typeof mutations): Promise<string> {
  const query = `mutation ($name: String!) { node: ${mutations[command]}(name: $name) { name agents } }`;
  const { node } = await askOwnServer(input, { query, variables: { name }, result: z.object({ node: z.object({ name: z.string(), agents: z.number() }) }) });
  return command === 'drain'
    ? `${node.name} drains: it has ${node.agents} agents, which go to other servers. "adit nodes" shows when it has none.\n`
    : `${node.name} no longer drains: it accepts agents again.\n`;
}
