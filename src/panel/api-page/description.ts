import * as z from 'zod/mini';
import { base } from '../base.ts';

const Schema = z.object({ type: z.optional(z.string()), enum: z.optional(z.array(z.string())), format: z.optional(z.string()) });
const Property = z.extend(Schema, { description: z.optional(z.string()) });
const Operation = z.object({
  operationId: z.string(),
  summary: z.optional(z.string()),
  deprecated: z.optional(z.boolean()),
  parameters: z.optional(z.array(z.object({ name: z.string(), schema: Schema, description: z.optional(z.string()), required: z.optional(z.boolean()) }))),
  requestBody: z.optional(z.object({
    content: z.object({
      'application/x-www-form-urlencoded': z.object({
        schema: z.object({ properties: z.optional(z.record(z.string(), Property)), required: z.optional(z.array(z.string())) }),
      }),
    }),
  })),
});
const Description = z.object({ paths: z.record(z.string(), z.record(z.string(), Operation)) });

/** A parameter in the query or the body of a call. */
export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** The values to choose from; undefined = any text. */
  readonly choices: readonly string[] | undefined;
  readonly hasLines: boolean;
}

/** A call of the API. */
export interface Endpoint {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
}

/** Reads the calls that the server describes in openapi.json. */
export async function readEndpoints(): Promise<readonly Endpoint[]> {
  const { paths } = Description.parse(await (await fetch(`${base}/openapi.json`)).json());
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).filter(([, { deprecated }]) => deprecated !== true).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      summary: operation.summary ?? '',
      parameters: method === 'get' ? inQuery(operation) : inBody(operation),
    }))
  );
}

function inQuery({ parameters = [] }: z.infer<typeof Operation>): readonly Parameter[] {
  return parameters.map(({ name, schema, description = '', required = false }) => ({ name, description, isRequired: required, ...kindOf(schema) }));
}

function inBody({ requestBody }: z.infer<typeof Operation>): readonly Parameter[] {
  const { properties = {}, required = [] } = requestBody?.content['application/x-www-form-urlencoded'].schema ?? {};
  return Object.entries(properties).map(([name, { description = '', ...schema }]) => ({
    name,
    description,
    isRequired: required.includes(name),
    ...kindOf(schema),
  }));
}

function kindOf({ type, enum: choices, format }: z.infer<typeof Schema>): Pick<Parameter, 'choices' | 'hasLines'> {
  return { choices: type === 'boolean' ? ['true', 'false'] : choices, hasLines: format === 'lines' };
}
