import { base } from '../base.ts';
import { useLanguage } from '../language/language.tsx';
import type { ViewerState } from '../shell/viewer.tsx';

/** Where to get the program that the commands for other machines run. @param text what to do with it, before its name */
export function AgentFile({ text }: { readonly text: string }) {
  const { t } = useLanguage();
  return (
    <>
      <p className='small'>
        {text + t.punctuation.colon}
        <a href={`${base}/agent/adit-agent.mjs`} download>adit-agent.mjs</a>
      </p>
      {!isSecureContext && <p className='small muted'>{t.clients.command.insecure}</p>}
    </>
  );
}

/** Where agents and visitor programs connect. If the public address is not configured, the name by which this browser reaches the server is the best guess. */
export function bridgeAddress({ publicAddress, bridgeTlsPort }: ViewerState['server']): string {
  const host = publicAddress ?? location.hostname;
  return `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${bridgeTlsPort}`;
}

/** A text quoted as one word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w.:/@,+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
