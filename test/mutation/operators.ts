import { parse } from '@babel/parser';
import * as t from '@babel/types';

/** One small change of a source file, as a programmer might make it by mistake. */
export interface Mutant {
  /** Path from the root of the repository. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** The expression or statement that is replaced, and what replaces it. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Whether it is a statement. */
  readonly statement: boolean;
  /** What is changed, for people: `a < b → a <= b`. */
  readonly change: string;
}

const binary: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&': '|',
  '|': '&',
  '<<': '>>',
  '>>>': '<<',
};
const logical: Readonly<Record<string, string>> = { '&&': '||', '||': '&&' };
const assignment: Readonly<Record<string, string>> = { '+=': '-=', '-=': '+=', '&&=': '=', '||=': '=', '??=': '=' };
/** Calls that change nothing but what operators read: no rule depends on them. */
const toldOnly = /^(?:await )?(?:this\.)?[#\w.?]*\b(?:log|say|trace)\b/;

/** All mutants of a source file. @throws when the text is no TypeScript */
export function mutantsOf(file: string, source: string): Mutant[] {
  const mutants: Mutant[] = [];
  /** @param node what people see of the change @param from what changes in it */
  const add = (node: t.Node, from: Span, text: string, replaced = node): void => {
    const after = ({ start, end }: Span) => source.slice(start, from.start) + text + source.slice(from.end, end);
    const change = `${oneLine(source.slice(spanOf(node).start, spanOf(node).end))} → ${oneLine(after(spanOf(node)))}`;
    const statement = t.isStatement(replaced);
    mutants.push({ file, line: node.loc?.start.line ?? 0, ...spanOf(replaced), text: after(spanOf(replaced)), statement, change });
  };
  const operator = (node: t.BinaryExpression | t.LogicalExpression | t.AssignmentExpression, swaps: Readonly<Record<string, string>>): void => {
    const swapped = swaps[node.operator];
    const from = source.indexOf(node.operator, spanOf(node.left).end);
    if (swapped !== undefined) add(node, { start: from, end: from + node.operator.length }, swapped);
  };
  const update = (node: t.UpdateExpression): void => {
    const { start, end } = spanOf(node);
    const from = node.prefix ? start : end - 2;
    add(node, { start: from, end: from + 2 }, node.operator === '++' ? '--' : '++');
  };
  const condition = (node: t.Node, test: t.Node): void => {
    for (const value of ['true', 'false']) add(node, spanOf(test), value, test);
  };
  t.traverseFast(parse(source, { sourceType: 'module', plugins: ['typescript', 'explicitResourceManagement'] }), (node) => {
    if (t.isTSType(node) || t.isTSTypeParameterInstantiation(node) || t.isTSInterfaceDeclaration(node) || t.isImportDeclaration(node)) {
      return t.traverseFast.skip;
    }
    if (t.isBinaryExpression(node) && !(node.operator === '+' && [node.left, node.right].some(isText))) operator(node, binary);
    else if (t.isLogicalExpression(node)) operator(node, logical);
    else if (t.isAssignmentExpression(node)) operator(node, assignment);
    else if (t.isUpdateExpression(node)) update(node);
    else if (t.isUnaryExpression(node) && node.operator === '!') add(node, { start: spanOf(node).start, end: spanOf(node).start + 1 }, '');
    else if (t.isBooleanLiteral(node)) add(node, spanOf(node), String(!node.value));
    else if (t.isIfStatement(node)) condition(node, node.test);
    else if (t.isConditionalExpression(node)) condition(node, node.test);
    else if (t.isExpressionStatement(node) && isCall(node.expression) && !toldOnly.test(source.slice(spanOf(node).start, spanOf(node).end))) {
      add(node, spanOf(node), ';');
    }
    return undefined;
  });
  return mutants;
}

/** The source with a mutant in it. */
export function mutated(source: string, { start, end, text }: Mutant): string {
  return source.slice(0, start) + text + source.slice(end);
}

/** From where to where, in characters of the source. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The place of a node that was read from a source. */
export function spanOf({ start, end }: t.Node): Span {
  return { start: start ?? 0, end: end ?? 0 };
}

/** `+` joins texts here. */
function isText(node: t.Node): boolean {
  return t.isStringLiteral(node) || t.isTemplateLiteral(node) || (t.isBinaryExpression(node) && node.operator === '+' && [node.left, node.right].some(isText));
}

function isCall(node: t.Node): boolean {
  if (t.isAwaitExpression(node) || t.isUnaryExpression(node, { operator: 'void' })) return isCall(node.argument);
  return t.isOptionalCallExpression(node) || (t.isCallExpression(node) && !t.isSuper(node.callee));
}

/** A piece of a source, for people: on one line, and cut after 100 characters. */
export function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
