import { useState } from 'react';
import { Link } from 'wouter';
import { failureOf, statusOf } from '../../api/failure.ts';
import { useRun } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Banner, Empty } from '../../parts/banner.tsx';

const create = graphql(`
  mutation CreateWallToken($name: String!) { createApiToken(input: { name: $name, readOnly: true, scope: WALL }) { token } }
`);

/** Creates the token of a wall screen. */
export function CreateWall({ onMade }: { readonly onMade: (token: string) => void }) {
  const { t } = useLanguage();
  const run = useRun();
  const [failure, setFailure] = useState<string>();
  const texts = t.dashboard.wall;
  async function make(): Promise<void> {
    const { data, error } = await run(create, { name: texts.tokenName });
    if (statusOf(error) === 401) setFailure(t.errors.codes.UNAUTHENTICATED);
    else if (error !== undefined) setFailure(failureOf(error, t).text);
    else if (data) onMade(data.createApiToken.token);
  }
  return (
    <main className='content'>
      <h1 className='visually-hidden'>{texts.title}</h1>
      {failure !== undefined && <Banner tone='danger' role='alert' title={failure} />}
      <div className='card'>
        <Empty
          icon='wall'
          title={texts.noToken}
          action={
            <>
              <button type='button' className='btn btn-primary' onClick={() => void make()}>{texts.create}</button>
              <Link className='btn' href='/'>{t.shell.nav.dashboard}</Link>
            </>
          }
        >
          {texts.noTokenText}
        </Empty>
      </div>
    </main>
  );
}
