import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { ConversionError, writeNewFile } from './new-file.ts';
import { agentFileOf } from './npc/agent-file.ts';
import { readConfText } from './nps/conf.ts';
import { settingsFileOf } from './nps/settings-file.ts';

/** Makes an adit.toml from an nps.conf. @param out the file to write; undefined = none @returns what to print @throws {ConversionError} */
export function convertNpsConf(file: string, out: string | undefined): string {
  const { text, problems } = settingsFileOf(textOf(file), path.dirname(path.dirname(path.resolve(file))));
  if (problems.length > 0) throw new ConversionError(problems.map(({ line, text: problem }) => `${file}:${line}: ${problem}`).join('\nadit: '));
  return written(text, out);
}

/** Makes an agent's configuration file from an npc.conf. @see convertNpsConf */
export function convertNpcConf(file: string, out: string | undefined): string {
  return written(agentFile(file), out);
}

/** Makes an agent's configuration file from an npc.conf, for this process only. @returns its path @throws {ConversionError} */
export function temporaryAgentFile(file: string): string {
  const text = agentFile(file);
  const directory = mkdtempSync(path.join(tmpdir(), 'adit-npc-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const made = path.join(directory, 'agent.toml');
  writeNewFile(made, text);
  return made;
}

function agentFile(file: string): string {
  const { text, problems } = agentFileOf(textOf(file), path.dirname(path.resolve(file)));
  if (problems.length > 0) throw new ConversionError(problems.map((problem) => `${file}: ${problem}`).join('\nadit: '));
  return text;
}

function textOf(file: string): string {
  try {
    return readConfText(file);
  } catch (error) {
    throw new ConversionError(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function written(text: string, out: string | undefined): string {
  if (out === undefined) return text;
  writeNewFile(out, text);
  return `Written to ${out}.\n`;
}
