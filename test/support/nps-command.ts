import process from 'node:process';
import { Child, type Exit } from './child.ts';
import { authKey, programOf, quickStart, type ServerProcess } from './processes.ts';

/** Where `adit import` and `adit export` find what they need: the settings of a server. */
export type SettingsOf = Readonly<Record<`ADIT_${string}`, string>>;

/** The settings of a database without a server. */
export function settingsOf({ dataDir, url }: { readonly dataDir: string; readonly url: string }): SettingsOf {
  return { ADIT_DATA_DIR: dataDir, ...(url !== '' && { ADIT_DATABASE_URL: url }) };
}

/** The settings of a running server. */
export function settingsOfServer({ dataDir, httpPort, bridgePort, tlsPort }: ServerProcess): SettingsOf {
  return {
    ADIT_DATA_DIR: dataDir,
    ADIT_HTTP_PORT: String(httpPort),
    ADIT_BRIDGE_PORT: String(bridgePort),
    ADIT_BRIDGE_TLS_PORT: String(tlsPort),
    ADIT_AUTH_KEY: authKey,
  };
}

/** Starts the program with a command that ends by itself. */
export function startCommand(words: readonly string[], settings: SettingsOf, flags: readonly string[] = quickStart): Child {
  return new Child(process.execPath, [...flags, programOf(), ...words], settings);
}

/** Runs the program with a command that ends by itself. @returns how it ended, and what it printed */
export async function runCommand(words: readonly string[], settings: SettingsOf): Promise<Exit & { readonly output: string }> {
  const child = startCommand(words, settings);
  return { ...await child.exited, output: child.output };
}
