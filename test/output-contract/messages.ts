import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import ts from 'typescript';

/*
 * Finds every message in the sources: errors with their hints, notices, prompts, and any other text of at least three
 * words. Values are shown as {expression}.
 */

const SRC = join(import.meta.dirname, '../../src');
/** Folders whose subfolders are separate topics. */
const DIVIDED = new Set(['commands', 'sandbox']);
/** Functions that take lists of words, or the help of a flag or an argument. */
const WITHOUT_MESSAGES =
  /^(?:wordList|aliasTable|textFlag|repeatedTextFlag|numberFlag|booleanFlag|durationFlag|optionalArg|requiredArg)$/;
/** Help is in docs/reference. */
const HELP = new Set(['summary', 'description', 'examples', 'helpValue', 'helpGroup']);
/** A word in a sentence: letters, perhaps with an apostrophe or a hyphen, and punctuation. */
const WORD = /(^|[\s('"“])[A-Za-z][A-Za-z'’-]*(?=[\s.,;:!?)'"”]|$)/g;
const CODE =
  /<\/?[a-z][^>]*>|\b(?:const|function|return)\b.*[;{(]|(?:⏎.*){8}|autocomplete (?:bash|zsh|fish|powershell)/;

/** The messages of each topic, sorted; an error is followed by its hint. */
export function messagesByTopic(): Map<string, string[]> {
  const found = new Map<string, Set<string>>();
  for (const path of readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(isSource)) {
    const topic = topicOf(path);
    const messages = found.get(topic) ?? new Set();
    for (const message of messagesOf(join(SRC, path))) messages.add(message);
    if (messages.size > 0) found.set(topic, messages);
  }
  return new Map([...found].map(([topic, messages]) => [topic, [...messages].sort()]));
}

const isSource = (path: string) => path.endsWith('.ts') && !path.endsWith('.d.ts');

function topicOf(path: string): string {
  const [layer = '', part = ''] = path.split(sep);
  if (!path.includes(sep)) return 'esign';
  return DIVIDED.has(layer) ? `${layer}-${part.replace(/\.ts$/, '')}` : layer;
}

function messagesOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const messages: string[] = [];
  const visit = (node: ts.Node): void => {
    const isNamed = ts.isPropertyAssignment(node) || ts.isPropertyDeclaration(node);
    if (isNamed && HELP.has(node.name.getText())) return;
    if (ts.isCallExpression(node) && WITHOUT_MESSAGES.test(node.expression.getText())) return;
    if (ts.isNewExpression(node) && /Error$/.test(node.expression.getText())) {
      messages.push(errorText(node));
      return;
    }
    const text = textOf(node);
    if (text !== undefined && isSentence(text)) messages.push(`${labelOf(node)}: ${text}`);
    else ts.forEachChild(node, visit);
  };
  visit(source);
  return messages.filter((message) => message !== '');
}

/** An error: its class, its message, and the hint on a separate line. */
function errorText(node: ts.NewExpression): string {
  const texts: string[] = [];
  let hint = '';
  const visit = (part: ts.Node): void => {
    const text = textOf(part);
    if (text === undefined) return void ts.forEachChild(part, visit);
    const label = labelOf(part);
    if (label === 'hint') hint += `\n  hint: ${text}`;
    else if (text.includes(' ')) texts.push(text);
  };
  for (const argument of node.arguments ?? []) visit(argument);
  return texts.length + hint.length === 0 ? '' : `${node.expression.getText()}: ${texts.join(' | ')}${hint}`;
}

/** The text of a literal, or of literals joined with +. */
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return oneLine(node.text);
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.map((span) => `{${span.expression.getText()}}${span.literal.text}`);
    return oneLine(node.head.text + spans.join(''));
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}

const oneLine = (text: string) => text.replace(/\s*\n\s*/g, '⏎').replaceAll('\u001b', '␛');

function isSentence(text: string): boolean {
  return (text.replace(/\{[^}]*\}/g, 'x').match(WORD)?.length ?? 0) >= 3 && !CODE.test(text);
}

/** The use of the text: the property that it is assigned to, or the function that it is passed to. */
function labelOf(node: ts.Node): string {
  const user = ts.findAncestor(node.parent, (one) => nameOf(one) !== undefined);
  return user === undefined ? 'text' : (nameOf(user) ?? 'text');
}

function nameOf(node: ts.Node): string | undefined {
  if (ts.isPropertyAssignment(node)) return node.name.getText().replaceAll("'", '');
  if (ts.isCallExpression(node)) return node.expression.getText().split('.').at(-1);
  if (ts.isVariableDeclaration(node) || ts.isFunctionLike(node)) return node.name?.getText() ?? 'text';
  return undefined;
}
