import { randomBytes } from 'node:crypto';
import type { BridgeAddress } from './engine/bridge/bridge.ts';
import { ownProgram } from './own-program.ts';
import { shellWord } from './rules/shell-word.ts';
import type { LoadedSettings } from './settings/load.ts';
import { secretsFile, storedSecrets } from './settings/secrets.ts';
import type { Settings } from './settings/settings.ts';
import { version } from './version.ts';
import { bracketed } from './rules/host-port.ts';

/** The contents of the ready message. */
export interface Ready {
  readonly settings: Settings;
  readonly generated: LoadedSettings['generated'];
  readonly bridge: BridgeAddress;
  /** The ports of the hosts. */
  readonly hosts: { readonly httpPort: number; readonly httpsPort: number };
  readonly http: { readonly address: string; readonly port: number };
  /** undefined = the API is served over plain HTTP */
  readonly tls: { readonly pin: string } | undefined;
}

/** The message on stdout once all ports are open: every address in use, new secrets (shown only once), and the next commands to run. */
export function readyMessage({ settings, generated, bridge, hosts, http, tls }: Ready): string {
  const url = `http${tls ? 's' : ''}://${reachable(http.address)}:${http.port}${settings.basePath}`;
  return `
Adit ${version} is ready.
  API      ${url}/
  GraphQL  ${url}/graphql
${tls && tls.pin !== '' ? `           self-signed certificate: curl --insecure --pinnedpubkey '${tls.pin}'\n` : ''}  Bridge   ${
    bracketed(bridge.host)
  }:${bridge.port}, over TLS :${bridge.tls.port} (agents connect here)
           TLS certificate SHA-256 ${bridge.tls.fingerprint}
  Hosts    HTTP ${bracketed(settings.vhostHost)}:${hosts.httpPort}, HTTPS :${hosts.httpsPort} (visitors of domains connect here)
${secrets(settings, generated)}${
    nextCommands(
      settings,
      generated,
      url,
      tls && tls.pin !== '' ? `curl -k --pinnedpubkey '${tls.pin}'` : 'curl',
      `--server ${reachable(bridge.host)}:${bridge.tls.port} --tls-fingerprint ${bridge.tls.fingerprint}`,
    )
  }
`;
}

/** The line of one of several processes: its name, and the port on which others reach it alone. */
export function processLine(name: string, number: number, processes: number, linkPort: number): string {
  return `Node ${name} is ready: process ${number} of ${processes}, reached by other nodes on port ${linkPort}`;
}

function secrets(settings: Settings, { authKey, authCryptKey, adminPassword }: LoadedSettings['generated']): string {
  const lines = [
    authKey && `  auth key        ${authKey}`,
    authCryptKey && `  auth crypt key  ${authCryptKey}`,
    adminPassword && `  admin password  ${adminPassword} (login name ${settings.adminUsername})`,
  ].filter(Boolean);
  if (lines.length === 0) return '';
  return `\nGenerated at this first start. They are shown only now, and stored in ${secretsFile(settings.dataDir)}:\n${lines.join('\n')}\n`;
}

/** Includes a random key for a new client, so that the lines can be pasted unchanged. */
function nextCommands(settings: Settings, generated: LoadedSettings['generated'], url: string, curl: string, place: string): string {
  if (settings.authKey === '') return '\nSigned API calls are off: no auth key is set.';
  const vkey = randomBytes(12).toString('hex');
  const kept = storedSecrets(settings.dataDir).authKey === settings.authKey;
  const authKey = generated.authKey ?? (kept ? `$(sed -n 's/.*"authKey": "\\(.*\\)".*/\\1/p' ${secretsFile(settings.dataDir)})` : '...the auth key you set...');
  return `
Next, in another terminal:
  AUTH_KEY=${authKey}
  sign() { t=$(date +%s); echo "auth_key=$(printf %s "$AUTH_KEY$t" | md5sum | cut -c1-32)&timestamp=$t"; }
  id=$(${curl} -s -d "$(sign)" -d remark=first -d vkey=${vkey} ${url}/client/add/ | tee /dev/stderr | grep -o '"id":[0-9]*' | cut -d: -f2)
  ${ownProgram().map(shellWord).join(' ')} agent ${place} --vkey ${vkey} &
  ${curl} -s -d "$(sign)" -d client_id=$id -d type=tcp -d target=127.0.0.1:22 -d port=9001 ${url}/index/add/
Then port 9001 of this machine leads to port 22 of the agent's machine. Ctrl-C here stops the server.`;
}

/** An address that clients can connect to, for a listen address that may be "all". */
function reachable(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : bracketed(host);
}
