import {
  buildASTSchema,
  type DocumentNode,
  findBreakingChanges,
  findDangerousChanges,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isObjectType,
  parse,
  visit,
} from 'graphql';

/** Changes that break no client that follows docs/api.md: new values of enums, new optional arguments and input fields. */
const allowed = /^(.+ was added to enum type|An optional (arg|field) .+ was added)/;

/**
 * The changes from a released schema that break clients that follow docs/api.md. Elements that were deprecated in that release may be missing, with the types that only they used.
 * @param released the text of its file
 */
export function breakingChanges(released: string, schema: GraphQLSchema): string[] {
  const before = buildASTSchema(withoutRemoved(parse(released), schema));
  return [...findBreakingChanges(before, schema), ...findDangerousChanges(before, schema)].map(({ description }) => description).filter((description) =>
    !allowed.test(description)
  );
}

/** A released schema without deprecated elements, and types used only by them, that the current schema no longer has. */
function withoutRemoved(released: DocumentNode, schema: GraphQLSchema): DocumentNode {
  const path: string[] = [];
  const drop = {
    enter(node: { readonly name: { readonly value: string }; readonly directives?: readonly { readonly name: { readonly value: string } }[] }) {
      path.push(node.name.value);
      if (!node.directives?.some(({ name }) => name.value === 'deprecated') || exists(schema, path)) return undefined;
      path.pop();
      return null;
    },
    leave() {
      path.pop();
    },
  };
  let kept: DocumentNode = visit(released, {
    ObjectTypeDefinition: drop,
    InputObjectTypeDefinition: drop,
    EnumTypeDefinition: drop,
    ScalarTypeDefinition: drop,
    FieldDefinition: drop,
    InputValueDefinition: drop,
    EnumValueDefinition: drop,
  });
  for (let count = -1; count !== kept.definitions.length;) {
    count = kept.definitions.length;
    const used = typesUsedIn(kept);
    const usedBefore = typesUsedIn(released);
    kept = {
      ...kept,
      definitions: kept.definitions.filter((node) =>
        !('name' in node) || node.name === undefined || used.has(node.name.value) || !usedBefore.has(node.name.value)
        || schema.getType(node.name.value) !== undefined
      ),
    };
  }
  return kept;
}

function typesUsedIn(document: DocumentNode): Set<string> {
  const names = new Set<string>();
  visit(document, {
    NamedType: ({ name }) => {
      names.add(name.value);
    },
  });
  return names;
}

/** @param path the type; its field or value; the field's argument */
function exists(schema: GraphQLSchema, [typeName = '', name, argument]: readonly string[]): boolean {
  const type = schema.getType(typeName);
  if (name === undefined) return type !== undefined;
  if (isEnumType(type)) return type.getValue(name) !== undefined;
  if (isInputObjectType(type)) return type.getFields()[name] !== undefined;
  const field = isObjectType(type) ? type.getFields()[name] : undefined;
  return argument === undefined ? field !== undefined : field?.args.some((arg) => arg.name === argument) === true;
}
