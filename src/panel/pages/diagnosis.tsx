import { type FormEvent, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useLanguage } from '../language/language.tsx';
import { Icon } from '../parts/icon.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { HostResult } from './diagnosis/host-result.tsx';
import { requestOf } from './diagnosis/request.ts';
import { TunnelChoice } from './diagnosis/tunnel-choice.tsx';
import { TunnelResult } from './diagnosis/tunnel-result.tsx';

/**
 * `/diagnosis`: what happens to a visitor of a URL or tunnel. The question is in the address: `?url=`, `?tunnel=` or `?port=`, and `?from=`, `?probe=1` and `?lookup=1`;
 * `?host=`, `?path=` and `?scheme=` of the older API work, too.
 */
export default function DiagnosisPage() {
  const { t } = useLanguage();
  const [parameters, setParameters] = useSearchParams();
  const get = (name: string): string => parameters.get(name) ?? '';
  const address = parameters.toString();
  const [{ kind, url, tunnel, port, from, probe, lookUp }, setValues] = useState(() => valuesOf(get));
  const [shown, setShown] = useState(address);
  const [problem, setProblem] = useState('');
  const texts = t.diagnosis;
  if (shown !== address) {
    // Another question was opened, such as that of a host with a similar name.
    setShown(address);
    setValues(valuesOf(get));
    setProblem('');
  }
  const change = (changed: Partial<Values>): void => setValues((before) => ({ ...before, ...changed }));

  function submit(event: FormEvent): void {
    event.preventDefault();
    const isMissing = kind === 'host' ? requestOf(url) === undefined : tunnel === '' && portOf(port) === null;
    setProblem(isMissing ? (kind === 'host' ? texts.urlMissing : texts.chooseTunnel) : '');
    if (isMissing) return;
    setParameters(
      new URLSearchParams([
        ...(kind === 'host' ? [['url', url.trim()]] : tunnel !== '' ? [['tunnel', tunnel]] : [['port', port.trim()]]),
        ...(from.trim() === '' ? [] : [['from', from.trim()]]),
        ...(probe ? [['probe', '1']] : []),
        ...(lookUp && kind === 'host' ? [['lookup', '1']] : []),
      ]),
    );
  }

  const request = requestOf(valuesOf(get).url);
  const question = { visitorAddress: get('from') || null, probe: get('probe') === '1' };
  return (
    <>
      <PageHead title={texts.title}>{texts.subtitle}</PageHead>
      <form className='card card-body stack' noValidate onSubmit={submit}>
        <div className='seg' role='group' aria-label={texts.kind}>
          {(['host', 'tunnel'] as const).map((each) => (
            <button key={each} type='button' aria-pressed={kind === each} onClick={() => change({ kind: each })}>{texts.kinds[each]}</button>
          ))}
        </div>
        <div className='grid-2'>
          <div className='field'>
            <label htmlFor='field-subject'>{kind === 'host' ? texts.url : texts.tunnel}</label>
            {kind === 'host'
              ? (
                <input
                  className='input mono'
                  id='field-subject'
                  inputMode='url'
                  placeholder={texts.urlHint}
                  value={url}
                  aria-invalid={problem !== '' || undefined}
                  aria-describedby={problem === '' ? undefined : 'subject-error'}
                  onChange={({ target }) => change({ url: target.value })}
                />
              )
              : <TunnelChoice value={tunnel} clientId={get('client')} isWrong={problem !== ''} onChange={(id) => change({ tunnel: id })} />}
            {kind === 'tunnel' && tunnel === '' && (
              <div className='row'>
                <label htmlFor='field-port' className='muted'>{texts.orPort}</label>
                <input
                  className='input mono input-s'
                  id='field-port'
                  inputMode='numeric'
                  value={port}
                  onChange={({ target }) => change({ port: target.value })}
                />
              </div>
            )}
            {problem !== '' && (
              <p className='error' id='subject-error'>
                <Icon name='stop' />
                {problem}
              </p>
            )}
          </div>
          <div className='field'>
            <label htmlFor='field-from'>
              {texts.from} <span className='optional'>{t.words.optional}</span>
            </label>
            <input className='input mono' id='field-from' value={from} aria-describedby='from-hint' onChange={({ target }) => change({ from: target.value })} />
            <p className='hint' id='from-hint'>{texts.fromHint}</p>
          </div>
        </div>
        {kind === 'host' && (
          <div className='field'>
            <label className='check'>
              <input type='checkbox' checked={lookUp} aria-describedby='lookup-hint' onChange={({ target }) => change({ lookUp: target.checked })} />
              {texts.lookUp}
            </label>
            <p className='hint' id='lookup-hint'>{texts.lookUpHint}</p>
          </div>
        )}
        <div className='field'>
          <label className='check'>
            <input type='checkbox' checked={probe} aria-describedby='probe-hint' onChange={({ target }) => change({ probe: target.checked })} />
            {texts.probe}
          </label>
          <p className='hint' id='probe-hint'>{texts.probeHint}</p>
        </div>
        <div className='actions'>
          <button type='submit' className='btn btn-primary'>{texts.run}</button>
        </div>
      </form>
      {get('tunnel') !== '' || portOf(get('port')) !== null
        ? <TunnelResult id={get('tunnel') || null} port={get('tunnel') === '' ? portOf(get('port')) : null} {...question} />
        : request && <HostResult {...request} {...question} lookUp={get('lookup') === '1'} />}
    </>
  );
}

/** What the form shows. */
interface Values {
  readonly kind: 'host' | 'tunnel';
  readonly url: string;
  readonly tunnel: string;
  readonly port: string;
  readonly from: string;
  readonly probe: boolean;
  readonly lookUp: boolean;
}

/** The question in the address. */
function valuesOf(get: (name: string) => string): Values {
  return {
    kind: ['tunnel', 'port', 'client'].every((name) => get(name) === '') ? 'host' : 'tunnel',
    url: get('url') || legacyUrl(get),
    tunnel: get('tunnel'),
    port: get('port'),
    from: get('from'),
    probe: get('probe') === '1',
    lookUp: get('lookup') === '1',
  };
}

function legacyUrl(get: (name: string) => string): string {
  return get('host') === '' ? '' : `${get('scheme') || 'http'}://${get('host')}${get('path') || '/'}`;
}

/** The port that a text names; null = none. */
function portOf(text: string): number | null {
  const port = Number(text.trim());
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : null;
}
