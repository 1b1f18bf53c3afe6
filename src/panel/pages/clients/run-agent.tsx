import { useState } from 'react';
import { Link } from 'wouter';
import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { AgentFile, bridgeAddress, shellWord } from '../../parts/agent-program.tsx';
import { Banner } from '../../parts/banner.tsx';
import { Command } from '../../parts/copy.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { InstallAgent } from './install-agent.tsx';

const runAgent = graphql(`
  fragment RunAgent on Client { id verifyKey agentCommand }
`);

type Form = 'line' | 'unit' | 'file';
/** Where install.sh (src/http/agent-install) puts the program, too. */
const unitFile = '/usr/local/lib/adit-agent/adit-agent.mjs';

/** Where the agent connects. */
interface Place {
  readonly address: string;
  readonly fingerprint: string;
}

interface Shown {
  readonly title: string;
  readonly text: string;
  readonly secret: string;
  /** Where adit-agent.mjs belongs. */
  readonly file: string;
  readonly hint: string;
}

/** How to run a client's agent: the command, the systemd unit and the configuration file for this machine, each to copy. */
export function RunAgent({ of }: { readonly of: FragmentType<typeof runAgent> }) {
  const { t } = useLanguage();
  const { server, secrets, isAdministrator, role, readOnly } = useViewer();
  const mayInstall = secrets && !readOnly && role !== 'CLIENT';
  // Without HTTPS, there is usually no line that installs it.
  const [form, setForm] = useState<Form | 'install'>(mayInstall && location.protocol === 'https:' ? 'install' : 'line');
  const { id, verifyKey, agentCommand } = unmask(runAgent, of);
  if (!secrets || verifyKey === null || verifyKey === undefined) return <p className='muted'>{t.clients.command.noSecrets}</p>;
  const { command } = t.clients;
  const place: Place = { address: bridgeAddress(server), fingerprint: server.bridgeTlsFingerprint };
  const inShell = shellWord(verifyKey);
  const inFile = JSON.stringify(verifyKey);
  const inUnit = inFile.slice(1, -1).replaceAll('%', '%%');
  const texts: Record<Form, Shown> = {
    line: {
      title: command.lineTitle,
      text: agentCommand ?? `ADIT_VKEY=${inShell} node adit-agent.mjs agent ${flagsOf(place)}`,
      secret: inShell,
      file: command.lineFile,
      hint: command.lineHint,
    },
    unit: { title: command.unitTitle, text: unitOf(place, inUnit), secret: inUnit, file: command.unitFile(unitFile), hint: command.unitHint },
    file: {
      title: command.fileTitle,
      text: `server = "${place.address}"\nvkey = ${inFile}\ntls_fingerprint = "${place.fingerprint}"\n`,
      secret: inFile,
      file: command.lineFile,
      hint: command.fileHint,
    },
  };
  const forms = [...(mayInstall ? ['install'] as const : []), 'line', 'unit', 'file'] as const;
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
      {form === 'install' ? <InstallAgent key={id} clientId={id} verifyKey={verifyKey} /> : <ByHand of={texts[form]} />}
    </div>
  );
}

function ByHand({ of: { title, text, secret, file, hint } }: { readonly of: Shown }) {
  return (
    <div className='stack-s'>
      <AgentFile text={file} />
      <Command title={title} text={text} secret={secret} />
      <p className='small muted'>{hint}</p>
    </div>
  );
}

function flagsOf({ address, fingerprint }: Place): string {
  return `--server ${shellWord(address)} --tls-fingerprint ${fingerprint}`;
}

/** A systemd unit that runs the agent. `%` and `$` have a meaning in units. @param key escaped for a unit */
function unitOf(place: Place, key: string): string {
  return `[Unit]
Description=Adit agent
After=network-online.target
Wants=network-online.target

[Service]
Environment="ADIT_VKEY=${key}"
ExecStart=/usr/bin/env node ${unitFile} agent ${flagsOf(place).replaceAll('%', '%%').replaceAll('$', '$$$$')}
Restart=always
RestartSec=5
DynamicUser=true

[Install]
WantedBy=multi-user.target
`;
}
