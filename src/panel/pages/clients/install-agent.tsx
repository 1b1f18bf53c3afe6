import { useState } from 'react';
import { useData, useRun } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import type { CreateInstallationMutation, InstallationsQuery } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { shellWord } from '../../parts/agent-program.tsx';
import { Banner } from '../../parts/banner.tsx';
import { useConfirm } from '../../parts/confirm.tsx';
import { Command } from '../../parts/copy.tsx';
import { Failure } from '../../parts/failure.tsx';
import { useReport } from '../../parts/toast.tsx';

const installations = graphql(`
  query Installations($id: ID!) { enrolments(clientId: $id) { id createdAt expiresAt usedAt usedFrom } }
`);
const create = graphql(`
  mutation CreateInstallation($id: ID!) {
    createEnrolment(input: { clientId: $id }) { code command manualSteps expiresAt enrolment { id } }
  }
`);
const revoke = graphql(`
  mutation RevokeInstallation($id: ID!) { revokeEnrolment(id: $id) }
`);

type Code = NonNullable<InstallationsQuery['enrolments']>[number];

/** The list is read again after this many ms: a machine uses a code without the panel. */
const everyMs = 5000;
/** This many of the newest codes are shown, and all that can still be used. */
const newest = 5;

const isOpen = ({ usedAt, expiresAt }: Code): boolean => !usedAt && Date.parse(expiresAt) > Date.now();

/** Installs a client's agent on a machine with one line, and lists the codes of such lines. A new line is shown once. */
export function InstallAgent({ clientId, verifyKey }: { readonly clientId: string; readonly verifyKey: string }) {
  const { t, f } = useLanguage();
  const { data, error, refetch } = useData(installations, { id: clientId }, { everyMs });
  const run = useRun();
  const ask = useConfirm();
  const report = useReport();
  const [made, setMade] = useState<CreateInstallationMutation['createEnrolment']>();
  const texts = t.clients.install;
  const codes = data?.enrolments?.filter((code, at) => at < newest || isOpen(code)) ?? [];

  async function createCode(): Promise<void> {
    const created = await run(create, { id: clientId });
    if (report(created.error, texts.created)) setMade(created.data?.createEnrolment);
    refetch();
  }

  async function revokeCode(code: Code): Promise<void> {
    if (!await ask({ title: texts.revokeTitle(f.short(code.createdAt)), body: <p>{texts.revokeText}</p>, action: texts.revoke })) return;
    const isRevoked = report((await run(revoke, { id: code.id })).error, texts.revoked);
    if (isRevoked && code.id === made?.enrolment.id) setMade(undefined);
    refetch();
  }

  const stateOf = (code: Code): string =>
    code.usedAt
      ? texts.used(f.short(code.usedAt), code.usedFrom ?? t.words.unknown)
      : isOpen(code)
      ? texts.open(f.short(code.expiresAt))
      : texts.expired(f.short(code.expiresAt));
  return (
    <div className='stack'>
      <p>{texts.text}</p>
      {made && (
        <>
          <Banner tone='ok' title={texts.shownOnce(f.moment(made.expiresAt))} />
          {made.command
            ? <Command title={texts.lineTitle} text={made.command} />
            : (
              <>
                <Command title={texts.stepsTitle} text={made.manualSteps ?? ''} secret={shellWord(verifyKey)} />
                <Command title={texts.codeTitle} text={made.code} />
              </>
            )}
        </>
      )}
      <div className='actions'>
        <button type='button' className={made ? 'btn' : 'btn btn-primary'} onClick={() => void createCode()}>{texts.create}</button>
      </div>
      <Failure error={error} onRetry={refetch} />
      {codes.length > 0 && (
        <section className='stack-s' aria-label={texts.codes}>
          <h3>{texts.codes}</h3>
          <ul className='lines'>
            {codes.map((code) => (
              <li key={code.id} className='small'>
                <span>
                  {texts.createdAt(f.short(code.createdAt))} <span className='muted'>{stateOf(code)}</span>
                </span>
                <button
                  type='button'
                  className='btn btn-s'
                  aria-label={texts.revoke + t.punctuation.colon + f.short(code.createdAt)}
                  onClick={() => void revokeCode(code)}
                >
                  {texts.revoke}
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
