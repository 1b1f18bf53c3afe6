import { parse } from '@babel/parser';
import * as t from '@babel/types';
import { oneLine, spanOf, type Mutant, type Span } from './operators.ts';

/** What objects, lists and calls may be long: each mutant has a copy of it. */
const LONGEST = 600;
/** Names that are alike: they begin or end with so many equal letters. */
const ALIKE = 4;
/** A text that may be a code, a field or a state, and none for people. */
const CODE = /^[\w.-]{2,24}$/;

/** Calls that do the opposite, or the same from the other end. */
const opposites = new Map(Object.entries({
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  ceil: 'floor',
  floor: 'ceil',
  shift: 'pop',
  pop: 'shift',
  push: 'unshift',
  unshift: 'push',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  find: 'findLast',
  findLast: 'find',
  indexOf: 'lastIndexOf',
  lastIndexOf: 'indexOf',
}));
/** Calls without which the value is of the same type. */
const omitted = new Set(['filter', 'slice', 'subarray', 'toSorted', 'toReversed', 'trim', 'toLowerCase', 'toUpperCase', 'flat']);

/**
 * All mistakes of a source file that mix something up or leave it out: two arguments, two names that are alike, two codes, the order of two statements; an option, an
 * entry, an assignment, the end of a list, a default.
 *
 * @throws when the text is no TypeScript
 */
export function mixupsOf(file: string, source: string): Mutant[] {
  const tree = parse(source, { sourceType: 'module', plugins: ['typescript', 'explicitResourceManagement'] });
  const mutants: Mutant[] = [];
  const names = new Map<string, Set<string>>();
  const codes = new Set<string>();
  /** Second ones of two that change places: no mutant may begin in another one and end behind it. */
  const swapped = new Set<t.Node>();
  visit(tree, (node, parents) => {
    if (isField(node)) names.set(ownerOf(node, parents), (names.get(ownerOf(node, parents)) ?? new Set()).add(textOf(node.property)));
    if (t.isStringLiteral(node) && CODE.test(node.value)) codes.add(node.value);
  });
  visit(tree, (node, parents) => {
    if (t.isStatement(node)) statement(node, parents);
    else if (t.isExpression(node) && mayReplace(node, parents)) expression(node, parents);
  });
  return mutants;

  function expression(node: t.Expression, parents: readonly t.Node[]): void {
    if (isField(node)) {
      const other = closest(textOf(node.property), names.get(ownerOf(node, parents)) ?? []);
      if (other !== undefined) add(node, node.property, other);
    } else if (t.isNumericLiteral(node)) add(node, node, String(node.value + 1));
    else if (t.isStringLiteral(node)) {
      const other = CODE.test(node.value) ? after(node.value, codes) : undefined;
      if (other !== undefined) add(node, node, `'${other}'`);
    } else if (t.isLogicalExpression(node, { operator: '??' })) add(node, node, textOf(node.left));
    else if (t.isObjectExpression(node) && isShort(node)) leaveOut(node, node.properties);
    else if (t.isArrayExpression(node) && isShort(node)) leaveOut(node, node.elements);
    else if (t.isCallExpression(node) && isShort(node)) call(node);
  }

  function call(node: t.CallExpression): void {
    const [one, other] = node.arguments;
    // `Math.min` and `max` don't mind.
    if (!textOf(node.callee).startsWith('Math.') && one && other && isPlain(one) && isPlain(other) && textOf(one) !== textOf(other)) {
      add(node, { start: spanOf(one).start, end: spanOf(other).end }, `${textOf(other)}, ${textOf(one)}`);
    }
    if (!t.isMemberExpression(node.callee) || !t.isIdentifier(node.callee.property)) return;
    const { object, property } = node.callee;
    const opposite = opposites.get(property.name);
    if (opposite !== undefined) add(node, property, opposite);
    if (omitted.has(property.name)) add(node, node, `(${textOf(object)})`);
  }

  function statement(node: t.Statement, parents: readonly t.Node[]): void {
    const [parent] = parents;
    if (t.isContinueStatement(node) || (t.isBreakStatement(node) && !t.isSwitchCase(parent)) || t.isReturnStatement(node, { argument: null })) {
      add(node, node, ';');
    }
    if (!isStep(node)) return;
    if (t.isAssignmentExpression(node.expression)) add(node, node, ';');
    if (!t.isBlockStatement(parent) || swapped.has(node)) return;
    const next = parent.body[parent.body.indexOf(node) + 1];
    if (!next || !isStep(next)) return;
    swapped.add(next);
    add(node, { start: spanOf(node).start, end: spanOf(next).end }, `${textOf(next)} ${textOf(node)}`);
  }

  /** One mutant for each entry. */
  function leaveOut(node: t.Expression, entries: ReadonlyArray<t.Node | null>): void {
    if (entries.length < 2) return;
    for (const entry of entries) {
      if (!entry || t.isFunction(entry) || (t.isObjectProperty(entry) && t.isIdentifier(entry.key, { name: 'description' }))) continue;
      const { start, end } = spanOf(entry);
      const comma = /^\s*,/.exec(source.slice(end))?.[0].length ?? 0;
      add(node, { start, end: end + comma }, '');
    }
  }

  /** @param from what changes in the node, or from its beginning on */
  function add(node: t.Expression | t.Statement, from: t.Node | Span, text: string): void {
    const changed = 'type' in from ? spanOf(from) : { start: from.start, end: from.end };
    const start = spanOf(node).start;
    const end = Math.max(spanOf(node).end, changed.end);
    const after = source.slice(start, changed.start) + text + source.slice(changed.end, end);
    const change = `${oneLine(source.slice(start, end))} → ${oneLine(after)}`;
    mutants.push({ file, line: node.loc?.start.line ?? 0, start, end, text: after, statement: t.isStatement(node), change });
  }

  /** Whose field it is; `this` is another one in each class. */
  function ownerOf({ object }: t.MemberExpression, parents: readonly t.Node[]): string {
    return `${textOf(object)} ${parents.find((parent) => t.isClass(parent))?.start ?? ''}`;
  }

  function textOf(node: t.Node): string {
    return source.slice(spanOf(node).start, spanOf(node).end);
  }

  function isShort(node: t.Node): boolean {
    return spanOf(node).end - spanOf(node).start <= LONGEST;
  }
}

/** A field that is read: `a.b`. */
function isField(node: t.Node): node is t.MemberExpression {
  return t.isMemberExpression(node, { computed: false }) && !t.isSuper(node.object);
}

/** A call or an assignment, alone. */
function isStep(node: t.Statement): node is t.ExpressionStatement {
  return t.isExpressionStatement(node) && (t.isCallExpression(node.expression) || t.isAssignmentExpression(node.expression));
}

function isPlain(node: t.Node): boolean {
  return t.isIdentifier(node) || t.isMemberExpression(node) || t.isLiteral(node);
}

/** Whether a condition with the node and another one may stand there. */
function mayReplace(node: t.Expression, [parent]: readonly t.Node[]): boolean {
  if (
    !parent || t.isTSEnumMember(parent) || t.isImportOrExportDeclaration(parent) || t.isImportExpression(parent) || t.isImport(parent)
    || t.isImportAttribute(parent)
  ) return false;
  if (t.isAssignmentExpression(parent) || t.isAssignmentPattern(parent) || t.isForXStatement(parent)) return parent.left !== node;
  if (t.isObjectProperty(parent) || t.isClassProperty(parent) || t.isObjectMethod(parent) || t.isClassMethod(parent)) {
    return parent.key !== node || (!('shorthand' in parent) && parent.computed);
  }
  if (t.isCallExpression(parent) || t.isNewExpression(parent)) return parent.callee !== node;
  if (t.isOptionalMemberExpression(parent) || t.isOptionalCallExpression(parent) || t.isTaggedTemplateExpression(parent) || t.isUpdateExpression(parent)) {
    return false;
  }
  if (t.isTSNonNullExpression(parent) || t.isRestElement(parent) || t.isArrayPattern(parent) || t.isExpressionStatement(parent)) {
    return t.isExpressionStatement(parent);
  }
  return !t.isUnaryExpression(parent, { operator: 'delete' });
}

/** The name that is most alike, if one is. */
function closest(name: string, others: Iterable<string>): string | undefined {
  const ranked = Array.from(others).filter((other) => other !== name).map((other) => ({ other, equal: equalLetters(name, other) }))
    .filter(({ equal }) => equal >= ALIKE).toSorted((a, b) => b.equal - a.equal || (a.other < b.other ? -1 : 1));
  return ranked[0]?.other;
}

function equalLetters(a: string, b: string): number {
  let [first, last] = [0, 0];
  while (first < Math.min(a.length, b.length) && a[first] === b[first]) first++;
  while (last < Math.min(a.length, b.length) && a.at(-1 - last) === b.at(-1 - last)) last++;
  return Math.max(first, last);
}

/** The next text in alphabetical order, the first one after the last. */
function after(text: string, texts: Iterable<string>): string | undefined {
  const sorted = Array.from(texts).toSorted();
  const other = sorted[(sorted.indexOf(text) + 1) % sorted.length];
  return other === text ? undefined : other;
}

/** A call that nothing but a log depends on. */
function isLogging(node: t.Node): boolean {
  if (!t.isCallExpression(node) || !t.isMemberExpression(node.callee)) return false;
  const { object } = node.callee;
  const name = t.isMemberExpression(object) ? object.property : object;
  return (t.isIdentifier(name) || t.isPrivateName(name)) && /^log$/i.test(t.isPrivateName(name) ? name.id.name : name.name);
}

/** Calls `see` with each node that runs, none of types or of what is only logged. @param see with the nodes around it, the closest first */
function visit(tree: t.Node, see: (node: t.Node, parents: readonly t.Node[]) => void): void {
  const around: t.Node[] = [];
  const walk = (node: t.Node): void => {
    if (
      t.isTSType(node) || t.isTSTypeParameterInstantiation(node) || t.isTSInterfaceDeclaration(node) || t.isTSTypeAliasDeclaration(node)
      || t.isImportDeclaration(node) || isLogging(node)
    ) return;
    see(node, around);
    around.unshift(node);
    for (const key of t.VISITOR_KEYS[node.type] ?? []) {
      for (const child of [Reflect.get(node, key) as unknown].flat()) if (t.isNode(child)) walk(child);
    }
    around.shift();
  };
  walk(tree);
}
