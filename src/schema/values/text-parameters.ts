import { builder } from '../builder.ts';
import type { Coded } from './coded-text.ts';

/** Maximum number of parameters of a text. */
const mostParams = 4;

const TextParameter = builder.objectRef<readonly [name: string, value: string | number]>('TextParameter').implement({
  description: 'A parameter of a text.',
  fields: (t) => ({
    name: t.string({ description: 'The name in the text, such as `clientId`.', resolve: ([name]) => name }),
    value: t.string({ description: 'The value. Times are in ISO 8601.', resolve: ([, value]) => String(value) }),
  }),
});

const parameters: [typeof TextParameter] = [TextParameter];

/** The field with the parameters of a text. */
export const paramsField = {
  type: parameters,
  extensions: { items: mostParams },
  description: 'The parameters of the text.',
  resolve: (row: Pick<Coded<string>, 'params'>) => Object.entries(row.params),
};
