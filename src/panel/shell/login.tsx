import { Dialog } from '@base-ui/react/dialog';
import { type FormEvent, useEffect, useState } from 'react';
import { loggedOut, logIn, type LoginOutcome } from '../api/session.ts';
import { useStore } from '../api/store.ts';
import { base } from '../base.ts';
import { useLanguage } from '../language/language.tsx';
import { Banner } from '../parts/banner.tsx';
import { Icon, Logo } from '../parts/icon.tsx';
import { switchTheme } from './theme.ts';

/** The name and password fields, and why the last login failed. */
function LoginForm({ title, onDone }: { readonly title: string; readonly onDone: () => void }) {
  const { t } = useLanguage();
  const [outcome, setOutcome] = useState<LoginOutcome>('ok');
  const [missing, setMissing] = useState<readonly string[]>([]);
  const [isBusy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget;
    const data = new FormData(form);
    const text = (name: string): string => {
      const value = data.get(name);
      return typeof value === 'string' ? value : '';
    };
    const lacking = ['username', 'password'].filter((name) => text(name) === '');
    setMissing(lacking);
    if (lacking.length > 0) {
      form.querySelector<HTMLInputElement>(`[name=${lacking[0]}]`)?.focus();
      return;
    }
    setBusy(true);
    const result = await logIn(text('username'), text('password'));
    setBusy(false);
    setOutcome(result);
    if (result === 'ok') onDone();
    else form.querySelector<HTMLInputElement>('[name=password]')?.select();
  }

  return (
    <form className='card' aria-label={title} noValidate onSubmit={(event) => void submit(event)}>
      <h1>{title}</h1>
      {outcome === 'wrong' && <Banner tone='danger' role='alert' title={t.shell.login.wrong}>{t.shell.login.wrongText}</Banner>}
      {outcome === 'unreachable' && <Banner tone='danger' role='alert' title={t.shell.login.unreachable}>{t.shell.login.unreachableText}</Banner>}
      <LoginField name='username' label={t.shell.login.name} problem={missing.includes('username') ? t.shell.login.nameMissing : undefined} />
      <LoginField name='password' label={t.shell.login.password} problem={missing.includes('password') ? t.shell.login.passwordMissing : undefined} />
      <button type='submit' className='btn btn-primary' aria-disabled={isBusy || undefined}>{t.shell.login.button}</button>
    </form>
  );
}

function LoginField({ name, label, problem }: { readonly name: 'username' | 'password'; readonly label: string; readonly problem: string | undefined }) {
  return (
    <div className='field'>
      <label htmlFor={`login-${name}`}>{label}</label>
      <input
        className='input'
        id={`login-${name}`}
        name={name}
        type={name === 'password' ? 'password' : 'text'}
        autoComplete={name === 'password' ? 'current-password' : 'username'}
        autoFocus={name === 'username'}
        aria-invalid={problem !== undefined || undefined}
        aria-describedby={problem === undefined ? undefined : `login-${name}-error`}
      />
      {problem !== undefined && (
        <p className='error' id={`login-${name}-error`}>
          <Icon name='stop' />
          {problem}
        </p>
      )}
    </div>
  );
}

/** `/login/index`: the page to log in. After it, opens the page that was asked for. */
export function LoginPage() {
  const { t, code, choose } = useLanguage();
  useEffect(() => {
    document.title = `${t.shell.login.title} · Adit`;
  }, [t]);
  return (
    <div className='login'>
      <main id='main'>
        <div className='stack-s'>
          <span className='brand'>
            <Logo />
            Adit
          </span>
          <p className='muted'>{location.host}</p>
        </div>
        <LoginForm title={t.shell.login.title} onDone={() => location.assign(base + nextPage())} />
        <p className='small muted'>{t.shell.login.forgotten}</p>
      </main>
      <footer>
        <button type='button' className='btn btn-ghost btn-s' lang={code === 'zh' ? 'en' : 'zh-Hans'} onClick={() => choose(code === 'zh' ? 'en' : 'zh')}>
          <Icon name='language' />
          {t.shell.otherLanguage}
        </button>
        <button type='button' className='btn btn-ghost btn-s' onClick={switchTheme}>
          <Icon name='theme' />
          {t.shell.theme}
        </button>
        <a href={`${base}/api`}>{t.shell.login.programs}</a>
      </footer>
    </div>
  );
}

/** The address to open after the login: only pages of this panel. */
function nextPage(): string {
  const next = new URLSearchParams(location.search).get('next') ?? '/';
  return /^\/(?![/\\])/.test(next) ? next : '/';
}

/** Asks for a login above the page when the session has ended, so that nothing typed is lost. */
export function LoginDialog() {
  const { t } = useLanguage();
  const isOpen = useStore(loggedOut);
  return (
    <Dialog.Root open={isOpen} disablePointerDismissal>
      <Dialog.Portal>
        <Dialog.Backdrop className='backdrop' />
        <Dialog.Popup className='dialog modal login-dialog' aria-label={t.shell.login.ended}>
          <p className='muted'>{t.shell.login.endedText}</p>
          <LoginForm title={t.shell.login.ended} onDone={() => loggedOut.set(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
