import { type ASTNode, type DocumentNode, type GraphQLError, isValueNode, Kind, parse, type Source, visit } from 'graphql';

/** The parsed texts of operations, since one operation can have many errors. */
const parsed = new WeakMap<Source, DocumentNode>();

/**
 * The path of the literal that caused an error of validation, beginning with its argument, or with the variable whose default it is: `input.targets.0`. For an unknown field of an input
 * object, or a missing one, the path of the object.
 * @returns undefined = no literal caused it
 */
export function literalPath({ nodes }: GraphQLError): string | undefined {
  const [node] = nodes ?? [];
  if (node?.loc === undefined || node.kind === Kind.VARIABLE || !(isValueNode(node) || node.kind === Kind.OBJECT_FIELD)) return undefined;
  const { kind, loc: { source, start, end } } = node;
  // Nodes don't know what contains them, so the text is read again.
  const document = parsed.get(source) ?? parse(source);
  parsed.set(source, document);
  let path: string | undefined;
  visit(document, {
    enter(found, _key, parent, _keys, ancestors) {
      if (found.kind === kind && found.loc?.start === start && found.loc.end === end) {
        path = pathOf(parent === undefined ? ancestors : [...ancestors, parent], found);
      }
    },
  });
  return path;
}

function pathOf(ancestors: readonly (ASTNode | readonly ASTNode[])[], found: ASTNode): string | undefined {
  const names: (string | number)[] = [];
  for (const [index, container] of ancestors.entries()) {
    if (isList(container)) continue;
    if (container.kind === Kind.DIRECTIVE) return undefined;
    if (container.kind === Kind.ARGUMENT || container.kind === Kind.OBJECT_FIELD) names.push(container.name.value);
    if (container.kind === Kind.VARIABLE_DEFINITION) names.push(container.variable.name.value);
    const item = ancestors[index + 2] ?? found;
    if (container.kind === Kind.LIST && !isList(item)) names.push(container.values.findIndex((value) => value === item));
  }
  return names.join('.');
}

function isList(container: ASTNode | readonly ASTNode[]): container is readonly ASTNode[] {
  return Array.isArray(container);
}
