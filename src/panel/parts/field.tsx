import type { ReactNode } from 'react';
import { useLanguage } from '../language/language.tsx';
import type { Form } from './form.tsx';
import { fieldId } from './form.tsx';
import { checked, isChecked } from './form-values.ts';
import { Icon } from './icon.tsx';

interface FieldProps<Name extends string> {
  readonly form: Form<Name>;
  readonly name: Name;
  readonly label: string;
  /** The unit and the rule of the value. */
  readonly hint?: ReactNode;
  readonly isOptional?: boolean;
}

/** The attributes that connect a control with its problem and hint. */
function described<Name extends string>({ form, name, hint }: FieldProps<Name>) {
  const id = fieldId(name);
  const isWrong = form.problems[name] !== undefined;
  const ids = [isWrong ? `${id}-error` : '', hint === undefined ? '' : `${id}-hint`].filter((part) => part !== '').join(' ');
  return { id, name, 'aria-invalid': isWrong || undefined, 'aria-describedby': ids === '' ? undefined : ids };
}

function Frame<Name extends string>({ children, ...props }: FieldProps<Name> & { readonly children: ReactNode }) {
  const { t } = useLanguage();
  const { form, name, label, hint, isOptional = false } = props;
  const id = fieldId(name);
  const problem = form.problems[name];
  return (
    <div className='field'>
      <label htmlFor={id}>
        {label} {isOptional && <span className='optional'>{t.words.optional}</span>}
      </label>
      {children}
      {problem !== undefined && (
        <p className='error' id={`${id}-error`}>
          <Icon name='stop' />
          <span>{problem}</span>
        </p>
      )}
      {hint !== undefined && <div className='hint' id={`${id}-hint`}>{hint}</div>}
    </div>
  );
}

/** A line of text. @param unit shown behind the field */
export function TextField<Name extends string>(
  { type = 'text', unit, isMono = false, isNumber = false, autoComplete = 'off', placeholder, ...props }: FieldProps<Name> & {
    readonly type?: 'text' | 'password' | 'datetime-local';
    readonly unit?: string;
    readonly isMono?: boolean;
    readonly isNumber?: boolean;
    readonly autoComplete?: string;
    readonly placeholder?: string;
  },
) {
  const { form, name } = props;
  const input = (
    <input
      {...described(props)}
      className={`input ${isMono ? 'mono' : ''}`}
      type={type}
      inputMode={isNumber ? 'numeric' : undefined}
      step={type === 'datetime-local' ? 'any' : undefined}
      autoComplete={autoComplete}
      placeholder={placeholder}
      value={form.values[name]}
      onChange={(event) => form.set(name, event.target.value)}
    />
  );
  return (
    <Frame {...props}>
      {unit === undefined ? input : (
        <div className='with-unit'>
          {input}
          <span className='unit'>{unit}</span>
        </div>
      )}
    </Frame>
  );
}

/** Several lines of text. */
export function LinesField<Name extends string>(
  { rows = 2, placeholder, ...props }: FieldProps<Name> & { readonly rows?: number; readonly placeholder?: string },
) {
  const { form, name } = props;
  return (
    <Frame {...props}>
      <textarea
        {...described(props)}
        className='textarea mono input'
        rows={rows}
        spellCheck={false}
        placeholder={placeholder}
        value={form.values[name]}
        onChange={(event) => form.set(name, event.target.value)}
      />
    </Frame>
  );
}

/** One of a few values. @param options as value and text */
export function SelectField<Name extends string>(
  { options, ...props }: FieldProps<Name> & { readonly options: ReadonlyArray<readonly [string, string]> },
) {
  const { form, name } = props;
  return (
    <Frame {...props}>
      <select {...described(props)} className='select' value={form.values[name]} onChange={(event) => form.set(name, event.target.value)}>
        {options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
      </select>
    </Frame>
  );
}

/** Yes or no. */
export function CheckField<Name extends string>(props: FieldProps<Name>) {
  const { form, name, label, hint } = props;
  const id = fieldId(name);
  const problem = form.problems[name];
  return (
    <div className='field'>
      <span className='check'>
        <input
          {...described(props)}
          type='checkbox'
          checked={isChecked(form.values[name])}
          onChange={(event) => form.set(name, checked(event.target.checked))}
        />
        <label htmlFor={id}>{label}</label>
      </span>
      {problem !== undefined && (
        <p className='error' id={`${id}-error`}>
          <Icon name='stop' />
          <span>{problem}</span>
        </p>
      )}
      {hint !== undefined && <div className='hint' id={`${id}-hint`}>{hint}</div>}
    </div>
  );
}

/** One of a few values, each with an explanation. @param options as value, title and text */
export function CardsField<Name extends string>(
  { form, name, label, options }: FieldProps<Name> & { readonly options: ReadonlyArray<readonly [string, string, string]> },
) {
  return (
    <fieldset className='card card-body' id={fieldId(name)} tabIndex={-1}>
      <legend className='visually-hidden'>{label}</legend>
      <h2 aria-hidden='true'>{label}</h2>
      <div className='radio-cards'>
        {options.map(([value, title, text]) => (
          <label key={value} className='radio-card'>
            <input type='radio' name={name} value={value} checked={form.values[name] === value} onChange={() => form.set(name, value)} />
            <strong>{title}</strong>
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
