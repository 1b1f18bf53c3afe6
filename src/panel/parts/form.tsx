import { type SyntheticEvent, type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import type { CombinedError } from 'urql';
import { failureOf, statusOf } from '../api/failure.ts';
import { createStore } from '../api/store.ts';
import { useLanguage } from '../language/language.tsx';
import { Banner } from './banner.tsx';
import { linesOf } from './form-values.ts';

/** Whether a form on this page has changes that are not saved. */
export const unsaved = createStore(false);

/** The state of a form. Values are texts, as the browser's fields have them; a check box is `yes` or blank. */
export interface Form<Name extends string> {
  readonly values: Readonly<Record<Name, string>>;
  /** What is wrong, by field. */
  readonly problems: Readonly<Partial<Record<Name, string>>>;
  /** The fields because of which the last save was refused. */
  readonly refused: readonly Name[];
  /** What is wrong with the whole form. */
  readonly failure: string | undefined;
  /** Whether it is unknown if the values were saved: the failure says so. */
  readonly isUnconfirmed: boolean;
  /** The fields that somebody else changed meanwhile, empty if none of them is shown; undefined = nobody changed the record. */
  readonly conflict: readonly Name[] | undefined;
  readonly isSaving: boolean;
  readonly set: (name: Name, value: string) => void;
  readonly submit: (event?: SyntheticEvent<HTMLFormElement>) => Promise<void>;
  readonly takeTheirs: () => void;
  /** Back to the initial values. */
  readonly reset: () => void;
}

/** The values of a record, and the version that has them. */
interface Version<Name extends string> {
  readonly version: string;
  readonly values: Readonly<Record<Name, string>>;
}

/** The outcome of a save. */
interface Saved<Result> {
  readonly data?: Result | null | undefined;
  /** Of the record after the save. */
  readonly version?: string | undefined;
  readonly error?: CombinedError | undefined;
}

interface FormOptions<Name extends string, Result> {
  readonly initial: Readonly<Record<Name, string>>;
  /** Checks values before they are sent. */
  readonly validate?: (values: Readonly<Record<Name, string>>) => Partial<Record<Name, string>>;
  /**
   * Lets the server check values while the user pauses, without a save. Only problems of fields that the user has changed are shown.
   * @returns the error that a save would have
   */
  readonly check?: ((values: Readonly<Record<Name, string>>) => Promise<CombinedError | undefined>) | undefined;
  /** Sends the values. @param version of the record that they are based on */
  readonly save: (values: Readonly<Record<Name, string>>, version: string | undefined) => Promise<Saved<Result>>;
  readonly onSaved: (result: Result) => void;
  /** The version of the record with the initial values; absent = a new record. */
  readonly version?: string | undefined;
  /** The record on the server now; undefined = it was deleted, or is unknown. */
  readonly reread?: () => Promise<Version<Name> | undefined>;
}

/** How long the user pauses before the server checks what they typed, in ms. */
const pauseMs = 600;

/**
 * A form that sends its values to the server and shows each problem at its field. It keeps what was typed if the request fails or the session ends,
 * and asks before it overwrites somebody else's change.
 */
export function useForm<Name extends string, Result>(
  { initial, validate, check, save, onSaved, version: initialVersion, reread }: FormOptions<Name, Result>,
): Form<Name> {
  const { t } = useLanguage();
  const [start, setStart] = useState(initial);
  const [values, setValues] = useState(initial);
  const [problems, setProblems] = useState<Partial<Record<Name, string>>>({});
  const [refused, setRefused] = useState<readonly Name[]>([]);
  const [failure, setFailure] = useState<string>();
  const [isUnconfirmed, setUnconfirmed] = useState(false);
  const [version, setVersion] = useState(initialVersion);
  const [theirs, setTheirs] = useState<Readonly<Record<Name, string>>>();
  const [isSaving, setSaving] = useState(false);
  const isDirty = changes(start, values).length > 0;
  useEffect(() => {
    unsaved.set(isDirty);
    return () => unsaved.set(false);
  }, [isDirty]);
  useEffect(() => {
    // The browser asks before it closes the page.
    const ask = (event: BeforeUnloadEvent): void => {
      if (unsaved.get()) event.preventDefault();
    };
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, []);

  function refuse(wrong: Partial<Record<Name, string>>): void {
    setProblems(wrong);
    setRefused(namesOf(values).filter((name) => wrong[name] !== undefined));
  }

  /** The problems of an error that belong to fields of this form. */
  function problemsOf(error: CombinedError): Partial<Record<Name, string>> {
    const byField: Partial<Record<Name, string>> = {};
    for (const { field, text } of failureOf(error, t).fields) {
      // Such as targets.0, or platformDomains.2.wildcard.
      const parts = (field ?? '').split('.');
      const known = namesOf(values).find((key) => parts.includes(key));
      const index = known === undefined ? undefined : parts[parts.indexOf(known) + 1];
      const isOneOfMany = known !== undefined && index !== undefined && linesOf(values[known]).length > 1;
      if (known !== undefined) byField[known] ??= isOneOfMany ? t.form.inLine(Number(index) + 1, text) : text;
    }
    return byField;
  }

  const checkNow = useEffectEvent(async (isOutdated: () => boolean): Promise<void> => {
    const unsendable: Partial<Record<Name, string>> = validate?.(values) ?? {};
    const error = Object.keys(unsendable).length > 0 ? undefined : await check?.(values);
    // Without a connection, or without a login, it is unknown whether anything is wrong.
    if (isOutdated() || (error !== undefined && error.graphQLErrors.length === 0)) return;
    const wrong: Partial<Record<Name, string>> = error === undefined ? unsendable : problemsOf(error);
    const shown: Partial<Record<Name, string>> = {};
    for (const name of [...changes(start, values), ...refused]) {
      const problem = wrong[name];
      if (problem !== undefined) shown[name] = problem;
    }
    setProblems(shown);
  });
  const canCheck = check !== undefined;
  useEffect(() => {
    if (!canCheck || !isDirty || isSaving) return undefined;
    let isOutdated = false;
    const timer = setTimeout(() => void checkNow(() => isOutdated), pauseMs);
    return () => {
      isOutdated = true;
      clearTimeout(timer);
    };
  }, [canCheck, isDirty, isSaving, values]);

  /** @param unfinished the fields of which the browser has no value, because only a part of it was entered */
  async function send(unfinished: readonly string[]): Promise<void> {
    const wrong: Partial<Record<Name, string>> = { ...validate?.(values) };
    for (const name of namesOf(values)) if (unfinished.includes(name)) wrong[name] = t.form.unfinishedTime;
    refuse(wrong);
    setFailure(undefined);
    if (Object.keys(wrong).length > 0) return;
    const { data, version: saved, error } = await save(values, version);
    if (error !== undefined) {
      if (statusOf(error) === 401) return; // the dialog asks for a login
      const { text, code } = failureOf(error, t);
      const now = code === 'CONFLICT' ? await reread?.() : undefined;
      if (now !== undefined) {
        setVersion(now.version);
        return setTheirs(now.values);
      }
      const byField = problemsOf(error);
      refuse(byField);
      setUnconfirmed(error.graphQLErrors.length === 0 || code === 'DATABASE_UNAVAILABLE');
      if (Object.keys(byField).length === 0) setFailure(text);
      return;
    }
    if (data === undefined || data === null) return;
    unsaved.set(false);
    setStart(values);
    setTheirs(undefined);
    setVersion(saved);
    onSaved(data);
  }

  return {
    values,
    problems,
    refused,
    failure,
    isUnconfirmed,
    conflict: theirs && changes(start, theirs),
    isSaving,
    set(name, value) {
      setValues((before) => ({ ...before, [name]: value }));
    },
    async submit(event) {
      event?.preventDefault();
      if (isSaving) return;
      const unfinished = [...event?.currentTarget.querySelectorAll('input') ?? []].filter(({ validity }) => validity.badInput).map(({ name }) => name);
      setSaving(true);
      try {
        await send(unfinished);
      } finally {
        setSaving(false);
      }
    },
    takeTheirs() {
      if (theirs === undefined) return;
      setStart(theirs);
      setValues(theirs);
      setTheirs(undefined);
    },
    reset() {
      setStart(initial);
      setValues(initial);
    },
  };
}

function changes<Name extends string>(before: Readonly<Record<Name, string>>, after: Readonly<Record<Name, string>>): Name[] {
  return namesOf(before).filter((name) => before[name] !== after[name]);
}

function namesOf<Name extends string>(values: Readonly<Record<Name, string>>): Name[] {
  return Object.keys(values).filter((key): key is Name => key in values);
}

/** The frame of a form: the summary of what is wrong, the fields, and the button. Ctrl+Enter saves. @param labels of the fields, by name */
export function FormFrame<Name extends string>({ form, labels, action, children, more, className = 'form' }: {
  readonly form: Form<Name>;
  readonly labels: Readonly<Record<Name, string>>;
  readonly action: string;
  readonly children: ReactNode;
  /** Next to the button. */
  readonly more?: ReactNode;
  readonly className?: string;
}) {
  const { t } = useLanguage();
  const summary = useRef<HTMLDivElement>(null);
  const names = form.refused.filter((name) => name in labels && form.problems[name] !== undefined);
  const isWrong = names.length > 0 || form.failure !== undefined || form.conflict !== undefined;
  useEffect(() => {
    if (isWrong && !form.isSaving) summary.current?.focus();
  }, [isWrong, form.isSaving, form.refused, form.failure]);
  return (
    <form
      className={className}
      noValidate
      onSubmit={(event) => void form.submit(event)}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void form.submit(event);
      }}
    >
      {isWrong && (
        <div ref={summary} tabIndex={-1}>
          {form.conflict !== undefined
            ? (
              <Banner
                tone='warn'
                role='alert'
                title={t.form.conflict}
                action={
                  <>
                    <button type='button' className='btn btn-s' onClick={form.takeTheirs}>{t.form.takeTheirs}</button>
                    <button type='submit' className='btn btn-s'>{t.form.keepMine}</button>
                  </>
                }
              >
                {form.conflict.length === 0 ? t.form.conflictHidden : t.form.conflictText(form.conflict.map((name) => labels[name]))}
              </Banner>
            )
            : (
              <Banner tone='danger' role='alert' title={form.failure !== undefined && form.isUnconfirmed ? form.failure : t.form.notSaved(names.length)}>
                {!form.isUnconfirmed && form.failure}
                {names.length > 0 && (
                  <ul>
                    {names.map((name) => (
                      <li key={name}>
                        <a
                          href={`#${fieldId(name)}`}
                          onClick={(event) => {
                            event.preventDefault();
                            document.getElementById(fieldId(name))?.focus();
                          }}
                        >
                          {labels[name]}
                          {t.punctuation.colon}
                          {form.problems[name]}
                        </a>
                      </li>
                    ))}
                  </ul>
                )}
              </Banner>
            )}
        </div>
      )}
      {children}
      <div className='form-foot'>
        <button type='submit' className='btn btn-primary' aria-disabled={form.isSaving || undefined}>
          {form.isSaving ? t.actions.saving : action}
        </button>
        {more}
      </div>
    </form>
  );
}

/** The id of a field's control. */
export function fieldId(name: string): string {
  return `field-${name}`;
}
