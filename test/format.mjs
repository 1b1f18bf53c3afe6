// Formats the code with dprint's plugin for TypeScript, or with `--check` lists the files whose format differs. `.dprint.json` has the settings, and
// editors with dprint use it too. dprint's own program is not used, because the registry has it for few platforms.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import { createFromBuffer } from '@dprint/formatter';

const root = new URL('../', import.meta.url);
const { lineWidth, typescript } = JSON.parse(readFileSync(new URL('.dprint.json', root), 'utf8'));
const formatter = createFromBuffer(readFileSync(createRequire(import.meta.url)('@dprint/typescript').getPath()));
formatter.setConfig({ lineWidth }, typescript);
const problems = formatter.getConfigDiagnostics();
if (problems.length > 0) throw new Error(`.dprint.json: ${problems.map(({ propertyName, message }) => `${propertyName}: ${message}`).join('; ')}`);

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts', '*.tsx', '*.mjs', '*.cjs'], { cwd: root, encoding: 'utf8' }).trim().split(
  '\n',
);
for (const filePath of files) {
  const file = new URL(filePath, root);
  // Git still lists files that were just deleted.
  if (filePath.includes('/generated/') || !existsSync(file)) continue;
  const fileText = readFileSync(file, 'utf8');
  const formatted = formatter.formatText({ filePath, fileText });
  if (formatted === fileText) continue;
  if (!process.argv.includes('--check')) writeFileSync(file, formatted);
  else process.exitCode = 1;
  process.stdout.write(`${filePath}\n`);
}
