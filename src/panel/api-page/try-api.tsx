import { type FormEvent, useEffect, useState } from 'react';
import { base } from '../base.ts';
import { Logo } from '../parts/icon.tsx';
import { type Endpoint, type Parameter, readEndpoints } from './description.ts';

/** A parameter's value, and whether it is sent: absent and blank are not the same. */
interface Value {
  readonly text: string;
  readonly isSent: boolean;
}

/** `/api`: makes a form of each call that openapi.json describes, and shows the response. It keeps no token. */
export function TryApi() {
  const [endpoints, setEndpoints] = useState<readonly Endpoint[]>([]);
  const [id, setId] = useState('');
  const [values, setValues] = useState<Readonly<Record<string, Value>>>({});
  const [token, setToken] = useState('');
  const [status, setStatus] = useState('');
  const [answer, setAnswer] = useState('');
  useEffect(() => {
    readEndpoints().then(setEndpoints).catch((error: unknown) => setStatus(String(error)));
  }, []);
  const endpoint = endpoints.find((each) => each.id === id) ?? endpoints[0];
  const valueOf = ({ name, isRequired }: Parameter): Value => values[name] ?? { text: '', isSent: isRequired };

  function choose(next: string): void {
    setId(next);
    setValues({});
    setStatus('');
    setAnswer('');
  }
  async function call({ method, path, parameters }: Endpoint): Promise<void> {
    const sent = new URLSearchParams(parameters.filter((each) => valueOf(each).isSent).map((each) => [each.name, valueOf(each).text]));
    const query = method === 'GET' && sent.size > 0 ? `?${sent}` : '';
    setStatus('…');
    const response = await fetch(`${base}${path}${query}`, {
      method,
      headers: { accept: 'application/json', ...(token.trim() !== '' && { authorization: `Bearer ${token.trim()}` }) },
      ...(method !== 'GET' && { body: sent }),
    });
    const text = await response.text();
    setStatus(`${response.status} ${response.statusText}`);
    setAnswer(pretty(text));
  }
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (endpoint !== undefined) call(endpoint).catch((error: unknown) => setStatus(String(error)));
  }

  return (
    <>
      <header className='topbar page-bar'>
        <a className='brand' href={`${base}/`}>
          <Logo />
          Adit
        </a>
      </header>
      <main>
        <div className='content'>
          <div className='page-head'>
            <div>
              <h1>API for programs</h1>
              <p>
                Made from{' '}
                <a id='description' href={`${base}/openapi.json`}>openapi.json</a>. Calls are made as the logged-in user, or with a token, which this page does
                not store. New programs should use <a href={`${base}/graphql`}>GraphQL</a>.
              </p>
            </div>
          </div>
          <form id='call' className='card card-body stack' autoComplete='off' onSubmit={submit}>
            <div className='grid-2'>
              <div className='field'>
                <label htmlFor='operation'>Call</label>
                <select id='operation' className='select mono' value={endpoint?.id ?? ''} onChange={({ target }) => choose(target.value)}>
                  {endpoints.map((each) => <option key={each.id} value={each.id}>{each.method} {each.path}</option>)}
                </select>
                <p className='hint'>{endpoint?.summary}</p>
              </div>
              <div className='field'>
                <label htmlFor='token'>
                  Token <span className='optional'>optional</span>
                </label>
                <input
                  id='token'
                  className='input mono'
                  type='password'
                  autoComplete='off'
                  spellCheck={false}
                  value={token}
                  onChange={({ target }) => setToken(target.value)}
                />
              </div>
            </div>
            {endpoint !== undefined && endpoint.parameters.length > 0 && (
              <fieldset className='stack'>
                <legend className='small muted'>Parameters. Only those with a check mark are sent.</legend>
                <div className='grid-2'>
                  {endpoint.parameters.map((parameter) => (
                    <Field
                      key={`${endpoint.id} ${parameter.name}`}
                      parameter={parameter}
                      value={valueOf(parameter)}
                      onChange={(value) => setValues((before) => ({ ...before, [parameter.name]: value }))}
                    />
                  ))}
                </div>
              </fieldset>
            )}
            <div className='actions'>
              <button type='submit' className='btn btn-primary'>Call</button>
              <output className='mono'>{status}</output>
            </div>
          </form>
          <section className='cmd cmd-wrap' aria-label='Response' aria-live='polite' hidden={answer === ''}>
            <pre id='answer'>{answer}</pre>
          </section>
        </div>
      </main>
    </>
  );
}

function Field({ parameter, value, onChange }: { readonly parameter: Parameter; readonly value: Value; readonly onChange: (value: Value) => void }) {
  const { name, description, isRequired, choices, hasLines } = parameter;
  const id = `parameter-${name}`;
  const enter = ({ target }: { readonly target: { readonly value: string } }): void => onChange({ text: target.value, isSent: true });
  const control = { id, value: value.text, 'aria-describedby': `${id}-hint`, onChange: enter };
  return (
    <div className='field'>
      <span className='check'>
        <input
          type='checkbox'
          aria-label={`Send ${name}`}
          checked={value.isSent}
          disabled={isRequired}
          onChange={({ target }) => onChange({ ...value, isSent: target.checked })}
        />
        <label htmlFor={id} className='mono'>{name}</label>
      </span>
      {choices !== undefined
        ? (
          <select {...control} className='select'>
            {['', ...choices].map((text) => <option key={text} value={text}>{text}</option>)}
          </select>
        )
        : hasLines
        ? <textarea {...control} className='textarea input mono' rows={2} />
        : <input {...control} className='input mono' />}
      <p className='hint' id={`${id}-hint`}>{description}</p>
    </div>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // a page, for a browser that is logged in
  }
}
