import type { CombinedError } from 'urql';
import { useLocation } from 'wouter';
import { useLanguage } from '../language/language.tsx';
import { type Form, useForm } from './form.tsx';
import { useToast } from './toast.tsx';

/** A record that a form changes. */
interface Versioned {
  readonly id: string;
  readonly version: string;
}

/** What a mutation answers. */
interface Written {
  readonly data: { readonly id: string; readonly version?: string } | undefined;
  readonly error: CombinedError | undefined;
}

interface RecordFormOptions<Name extends string, Row extends Versioned> {
  /** The record; undefined = the form creates one. */
  readonly record: Row | undefined;
  readonly valuesOf: (record: Row | undefined) => Readonly<Record<Name, string>>;
  /** Checks values before they are sent. */
  readonly validate: (values: Readonly<Record<Name, string>>) => Partial<Record<Name, string>>;
  /** Lets the server check values without a save. @returns the error that a save would have */
  readonly check: (record: Row | undefined, values: Readonly<Record<Name, string>>) => Promise<CombinedError | undefined>;
  readonly create: (values: Readonly<Record<Name, string>>) => Promise<Written>;
  /** @param version of the record that the values are based on */
  readonly update: (record: Row, values: Readonly<Record<Name, string>>, version: string | null) => Promise<Written>;
  /** The record on the server now; nothing = it was deleted. */
  readonly read: (id: string) => Promise<Row | null | undefined>;
  /** What the message says after a new record was saved. */
  readonly created: string;
  /** The page to open after a save; undefined = stay. */
  readonly next: (id: string) => string | undefined;
}

/** A form that creates a record, or changes one and asks before it overwrites somebody else's change. */
export function useRecordForm<Name extends string, Row extends Versioned>(
  { record, valuesOf, validate, check, create, update, read, created, next }: RecordFormOptions<Name, Row>,
): Form<Name> {
  const { t } = useLanguage();
  const [, navigate] = useLocation();
  const toast = useToast();
  return useForm({
    initial: valuesOf(record),
    validate,
    check: (values) => check(record, values),
    save: async (values, version) => {
      const { data, error } = await (record === undefined ? create(values) : update(record, values, version ?? null));
      return { data: data?.id, version: data?.version, error };
    },
    onSaved: (id) => {
      toast(record === undefined ? created : t.form.saved);
      const address = next(id);
      if (address !== undefined) navigate(address);
    },
    ...(record && {
      version: record.version,
      reread: async () => {
        const now = await read(record.id);
        return now ? { version: now.version, values: valuesOf(now) } : undefined;
      },
    }),
  });
}
