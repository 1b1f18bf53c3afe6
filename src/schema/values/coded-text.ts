/** The values of parameters. */
type Params = Readonly<Record<string, string | number>>;

/** The names of the parameters of a text: `clientId` of "client {clientId} is disabled". */
type ParamsOf<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | ParamsOf<Rest> : never;

/** The parameters that a text takes: none, or an object with a value for each. */
export type GivenParams<Text extends string> = [ParamsOf<Text>] extends [never] ? [] : [params: Readonly<Record<ParamsOf<Text>, string | number>>];

/** A code of a table of texts, with the values of the parameters. Frontends with another language translate the code. */
export interface Coded<Code extends string> {
  readonly code: Code;
  readonly params: Params;
}

/** The English text. */
export function textOf<Code extends string>(texts: Readonly<Record<Code, string>>, { code, params }: Coded<Code>): string {
  return texts[code].replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name] ?? ''));
}
