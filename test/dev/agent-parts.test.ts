import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { agentParts } from './agent-parts.ts';

const directory = temporaryDirectory();
const commands = "void import('./agent.ts');\nvoid import('./server.ts');\n";
const agent = "import './wire.ts';\nvoid import('./direct.ts');\n";

async function partsWith(changed: Readonly<Record<string, string>> = {}): Promise<string> {
  const sources: Readonly<Record<string, string>> = {
    'main.ts': "void import('./commands.ts');",
    'commands.ts': `${commands}console.log('flags');`,
    'agent.ts': `${agent}console.log('agent');`,
    'server.ts': "import './wire.ts';\nconsole.log('server');",
    'wire.ts': "console.log('wire');",
    'direct.ts': "console.log('direct');",
    ...changed,
  };
  mkdirSync(path.join(directory, 'src'), { recursive: true });
  for (const [name, text] of Object.entries(sources)) writeFileSync(path.join(directory, 'src', name), text);
  const { metafile } = await build({
    absWorkingDir: directory,
    entryPoints: ['src/main.ts'],
    outdir: 'dist',
    chunkNames: 'part-[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    metafile: true,
  });
  return agentParts(metafile, directory, 'src/commands.ts', 'src/agent.ts');
}

test('an agent has changed when something has that it loads, at once or later, and not when only the server has', async () => {
  const before = await partsWith();
  expect(await partsWith({ 'server.ts': "import './wire.ts';\nconsole.log('another server');" })).toBe(before);
  for (const [name, imports] of [['commands.ts', commands], ['agent.ts', agent], ['wire.ts', ''], ['direct.ts', '']] as const) {
    const parts = await partsWith({ [name]: `${imports}console.log('another');` });
    expect([name, parts === before]).toEqual([name, false]);
  }
});
