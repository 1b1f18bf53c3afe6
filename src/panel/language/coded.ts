import type { Formats } from './formats.ts';

/** A text of the server: its code with parameters, and the text in English. */
export interface CodedText<Code extends string> {
  readonly code: Code;
  readonly params: ReadonlyArray<{ readonly name: string; readonly value: string }>;
  readonly text: string;
}

const isoTime = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** An English text of the server, with its times in the viewer's zone. */
export function serverText({ text }: { readonly text: string }, f: Formats): string {
  return text.replaceAll(isoTime, (time) => f.moment(time));
}

/** A text of a language, with the parameters of the server in its braces. */
export function filled(template: string, { params }: Pick<CodedText<string>, 'params'>, f: Formats): string {
  const values = new Map(params.map(({ name, value }) => [name, value]));
  return serverText({ text: template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values.get(name) ?? '') }, f);
}
