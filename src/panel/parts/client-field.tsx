import { Combobox } from '@base-ui/react/combobox';
import { useEffect, useState } from 'react';
import { useData } from '../api/use.ts';
import { graphql } from '../generated/index.ts';
import { useLanguage } from '../language/language.tsx';
import type { Form } from './form.tsx';
import { fieldId } from './form.tsx';
import { Icon } from './icon.tsx';
import { Mark } from './state.tsx';

const choices = graphql(`
  query ClientChoices($search: String) {
    clients(search: $search, limit: 20, sort: { field: REMARK }) { rows { id remark runtime { connected } } }
  }
`);
const chosen = graphql(`
  query ChosenClient($id: ID!) { client(id: $id) { id remark runtime { connected } } }
`);

/** Typing pauses for this many ms before the server searches. */
const pauseMs = 150;

interface Choice {
  readonly value: string;
  readonly label: string;
  readonly isOnline: boolean;
}

/** Finds a client by any of its texts: the server searches, since there may be 10,000. */
export function ClientField<Name extends string>({ form, name, label, hint }: {
  readonly form: Form<Name>;
  readonly name: Name;
  readonly label: string;
  readonly hint: string;
}) {
  const { t } = useLanguage();
  const [text, setText] = useState('');
  const [search, setSearch] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSearch(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  const value = form.values[name];
  const { data: current } = useData(chosen, { id: value }, { pause: value === '' });
  const choiceOf = (client: { readonly id: string; readonly remark: string; readonly runtime: { readonly connected: boolean } }): Choice => ({
    value: client.id,
    label: `${client.remark || t.clients.nameless(client.id)} #${client.id}`,
    isOnline: client.runtime.connected,
  });
  const selected = current?.client && current.client.id === value ? choiceOf(current.client) : null;
  const { data } = useData(choices, { search: search === '' || search === selected?.label ? null : search });
  const items = data?.clients.rows.map(choiceOf) ?? [];
  const id = fieldId(name);
  const problem = form.problems[name];
  return (
    <div className='field'>
      <label htmlFor={id}>{label}</label>
      <Combobox.Root
        items={items}
        filter={null}
        value={selected}
        isItemEqualToValue={(one: Choice, other: Choice) => one.value === other.value}
        onValueChange={(choice) => form.set(name, choice?.value ?? '')}
        onInputValueChange={setText}
      >
        <Combobox.Input
          id={id}
          className='input'
          placeholder={t.tunnels.form.chooseClient}
          aria-invalid={problem !== undefined || undefined}
          aria-describedby={problem === undefined ? `${id}-hint` : `${id}-error ${id}-hint`}
        />
        <Combobox.Portal>
          <Combobox.Positioner className='positioner' sideOffset={4}>
            <Combobox.Popup className='pop menu choices'>
              <Combobox.Empty className='muted'>{t.list.nothingMatches}</Combobox.Empty>
              <Combobox.List>
                {(choice: Choice) => (
                  <Combobox.Item key={choice.value} value={choice} className='item'>
                    <Mark tone={choice.isOnline ? 'ok' : 'away'} />
                    {choice.label}
                    <span className='visually-hidden'>{choice.isOnline ? t.states.online : t.states.away}</span>
                  </Combobox.Item>
                )}
              </Combobox.List>
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
      {problem !== undefined && (
        <p className='error' id={`${id}-error`}>
          <Icon name='stop' />
          <span>{problem}</span>
        </p>
      )}
      <div className='hint' id={`${id}-hint`}>{hint}</div>
    </div>
  );
}
