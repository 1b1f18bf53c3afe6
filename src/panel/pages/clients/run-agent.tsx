import { useState } from 'react';
import { Link } from 'wouter';
import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Banner } from '../../parts/banner.tsx';
import { Command } from '../../parts/copy.tsx';
import { useViewer } from '../../shell/viewer.tsx';

const runAgent = graphql(`
  fragment RunAgent on Client { verifyKey agentCommand }
`);

type Form = 'line' | 'unit' | 'file';
const forms: readonly Form[] = ['line', 'unit', 'file'];

/** How to run a client's agent: the command, the systemd unit and the configuration file for this machine, each to copy. */
export function RunAgent({ of }: { readonly of: FragmentType<typeof runAgent> }) {
  const { t } = useLanguage();
  const { server, secrets, isAdministrator } = useViewer();
  const [form, setForm] = useState<Form>('line');
  const { verifyKey, agentCommand } = unmask(runAgent, of);
  if (!secrets || verifyKey === null || verifyKey === undefined) return <p className='muted'>{t.clients.command.noSecrets}</p>;
  const { command } = t.clients;
  // If the public address is not configured, the name by which this browser reaches the server is the best guess.
  const line = agentCommand
    ?? `ADIT_VKEY='${verifyKey}' npx adit agent --server ${bridgeAt(location.hostname, server.bridgeTlsPort)} --tls-fingerprint ${server.bridgeTlsFingerprint}`;
  const address = bridgeAt(server.publicAddress ?? location.hostname, server.bridgeTlsPort);
  const texts: Record<Form, readonly [title: string, text: string, hint: string]> = {
    line: [command.lineTitle, line, command.lineHint],
    unit: [command.unitTitle, unitOf(line, verifyKey), command.unitHint],
    file: [
      command.fileTitle,
      `server = "${address}"\nvkey = ${JSON.stringify(verifyKey)}\ntls_fingerprint = "${server.bridgeTlsFingerprint}"\n`,
      command.fileHint,
    ],
  };
  const [title, text, hint] = texts[form];
  return (
    <div className='stack'>
      {server.publicAddress === null && (
        <Banner
          tone='warn'
          role='note'
          title={command.unavailable}
          {...(isAdministrator && { action: <Link className='btn btn-s' href='/settings'>{t.shell.nav.settings}</Link> })}
        >
          {command.unavailableText}
        </Banner>
      )}
      <div className='seg' role='group' aria-label={command.how}>
        {forms.map((name) => <button key={name} type='button' aria-pressed={form === name} onClick={() => setForm(name)}>{command[name]}</button>)}
      </div>
      <div className='stack-s'>
        <Command title={title} text={text} secret={verifyKey} />
        <p className='small muted'>{hint}</p>
      </div>
    </div>
  );
}

function bridgeAt(host: string, port: number): string {
  return `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
}

/** A systemd unit for a command. The key is in the unit's environment; `%` has a meaning in units. */
function unitOf(line: string, key: string): string {
  const start = line.slice(line.indexOf('npx adit')).replaceAll('%', '%%');
  const environment = JSON.stringify(`ADIT_VKEY=${key}`).replaceAll('%', '%%');
  return `[Unit]
Description=Adit agent
After=network-online.target
Wants=network-online.target

[Service]
Environment=${environment}
ExecStart=/usr/bin/env ${start}
Restart=always
RestartSec=5
DynamicUser=true

[Install]
WantedBy=multi-user.target
`;
}
