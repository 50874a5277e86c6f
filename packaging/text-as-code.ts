// Finds the places where a script makes code of text, or lets in scripts from elsewhere. A store refuses an extension
// that does, and tabrelay promises that its store edition does not (docs/security.md).

import { parseSync } from 'oxc-parser';

/** A node of the syntax tree (ESTree), and the one around it. */
interface Node {
  type: string;
  start: number;
  end: number;
  fields: Record<string, unknown>;
  parent: Node | undefined;
}

const makers = new Set(['eval', 'Function', 'AsyncFunction', 'GeneratorFunction', 'importScripts']);
const timers = new Set(['setTimeout', 'setInterval']);
const debuggerWords =
  /^(?:Runtime|Debugger|Page)\.(?:evaluate|compileScript|callFunctionOn|addScriptToEvaluate)/;

/** What a person would have to look at, with its line. Empty: no text becomes code here. */
export function findings(name: string, text: string): string[] {
  const { program, errors } = parseSync(name, text, { sourceType: 'script' });
  if (errors.length > 0) throw new Error(`${name} cannot be read: ${errors[0]?.message}`);
  const found: string[] = [];
  const visit = (value: unknown, parent?: Node): void => {
    if (Array.isArray(value)) for (const one of value) visit(one, parent);
    const node = asNode(value, parent);
    if (node === undefined) return;
    const what = reason(node, name);
    const line = text.slice(0, node.start).split('\n').length;
    if (what !== undefined)
      found.push(`${name}:${line}: ${what}: ${text.slice(node.start, node.end).slice(0, 80)}`);
    for (const one of Object.values(node.fields)) visit(one, node);
  };
  visit(program);
  return found;
}

function asNode(value: unknown, parent?: Node): Node | undefined {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('start' in value))
    return undefined;
  const { type, start } = value;
  const end = 'end' in value ? value.end : start;
  if (typeof type !== 'string' || typeof start !== 'number' || typeof end !== 'number') return undefined;
  return { type, start, end, fields: { ...value }, parent };
}

const part = ({ fields }: Node, name: string): Node | undefined => bare(asNode(fields[name]));

function parts({ fields }: Node, name: string): Node[] {
  const list = fields[name];
  return (Array.isArray(list) ? list : []).flatMap((one) => asNode(one) ?? []);
}

/** What parentheses stand around. */
function bare(node?: Node): Node | undefined {
  return node?.type === 'ParenthesizedExpression' ? bare(asNode(node.fields.expression)) : node;
}

function literal(node?: Node): string | undefined {
  return node?.type === 'Literal' && typeof node.fields.value === 'string' ? node.fields.value : undefined;
}

/** The name that a reference ends with: c in a.b.c and in a["c"]. */
function lastName(node?: Node): string {
  if (node?.type === 'Identifier') return String(node.fields.name);
  if (node?.type !== 'MemberExpression') return '';
  const property = part(node, 'property');
  return node.fields.computed === true ? (literal(property) ?? '') : lastName(property);
}

function reason(node: Node, name: string): string | undefined {
  switch (node.type) {
    case 'Identifier':
      return ofName(node);
    case 'Literal':
      return ofText(literal(node) ?? '');
    case 'CallExpression':
    case 'NewExpression':
      return ofCall(node);
    case 'ImportExpression':
      return literal(part(node, 'source')) === undefined ? 'imports what it computes' : undefined;
    case 'MemberExpression':
      return ofMember(node, name);
  }
  return undefined;
}

// A mention is enough: what is named can be called under another name. Fine are keys of objects, the methods that
// functions inherit, and the question whether something is one.
function ofName(node: Node): string | undefined {
  const { fields, start, parent } = node;
  if (!makers.has(String(fields.name))) return undefined;
  const isAt = (field: string) => asNode(parent?.fields[field])?.start === start;
  switch (parent?.type) {
    case 'Property':
    case 'MethodDefinition':
      if (isAt('key')) return undefined;
      break;
    case 'BinaryExpression':
      if (parent.fields.operator === 'instanceof' && isAt('right')) return undefined;
      break;
    case 'MemberExpression':
      if (isAt('object') && lastName(parent) === 'prototype') return undefined;
  }
  return 'makes code of text';
}

function ofText(text: string): string | undefined {
  if (debuggerWords.test(text)) return 'has the debugger run text';
  if (/^https?:\/\/\S+\.m?js(?:[?#]|$)/i.test(text)) return 'names a script elsewhere';
  if (/^\s*javascript:./i.test(text)) return 'is code in an address';
  return undefined;
}

function ofCall(node: Node): string | undefined {
  const callee = part(node, 'callee');
  const called = lastName(callee);
  const given = parts(node, 'arguments');
  // Of an object that is `this` it is its class; of anything else it could be a function's.
  if (called === 'constructor' && callee && part(callee, 'object')?.type !== 'ThisExpression')
    return 'reaches the maker of functions';
  if (timers.has(called) && /^(?:Literal|TemplateLiteral|BinaryExpression)$/.test(given[0]?.type ?? ''))
    return 'has a timer run text';
  if (/^createElement(?:NS)?$/.test(called) && given.some((one) => literal(one) === 'script'))
    return 'makes a script element';
  if (called === 'executeScript' && given.some((one) => hasKey(one, 'code'))) return 'injects text';
  return undefined;
}

function ofMember(node: Node, name: string): string | undefined {
  const member = lastName(node);
  const owner = part(node, 'object');
  const ofFunction = /Function/.test(owner?.type ?? '') || lastName(owner) === 'prototype';
  if (member === 'constructor' && ofFunction) return 'reaches the maker of functions';
  if (makers.has(member) && node.fields.computed === true) return 'makes code of text';
  if (member === 'debugger') return "uses Chrome's debugger";
  const runs = /^(?:execute|register|update)$/.test(member) && lastName(owner) === 'userScripts';
  const asked = node.parent?.fields.operator === 'typeof';
  return runs && !asked && name !== 'worker.js'
    ? 'runs user scripts elsewhere than in the worker'
    : undefined;
}

const hasKey = (node: Node, key: string): boolean =>
  parts(node, 'properties').some((one) => lastName(part(one, 'key')) === key);
