import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

// Rejects assertions on sentences: a literal of more than four words inside expect(…). Whole sentences belong in golden files
// (contract/messages, test/output/golden), so that a message can be improved without changing tests. test/wording.json lists how
// many each file may have. The list may only get shorter.

const root = join(import.meta.dirname, '..');
const MOST_WORDS = 4;
/** A word of a sentence. Capitalized words after the first one don't count, because names, IDs, and statuses are facts. */
const WORD =
  /(?<=^[^\w]*)[A-Z][a-z'’-]*(?=[\s.,;:!?)'"”]|$)|(?<=^|[\s('"“])[a-z][a-z'’-]*(?=[\s.,;:!?)'"”]|$)/g;

const allowed = JSON.parse(readFileSync(join(root, 'test/wording.json'), 'utf8'));
for (const name of readdirSync(join(root, 'test'), { recursive: true }).sort()) {
  const file = name.replaceAll('\\', '/');
  if (!file.endsWith('.ts') || file.includes('node_modules')) continue;
  const lines = sentencesOf(join(root, 'test', file));
  const most = allowed[file] ?? 0;
  if (lines.length <= most) continue;
  process.stderr.write(
    `test/${file} asserts on ${lines.length} sentences; ${most} are allowed (test/wording.json).\n` +
      `Assert on codes, JSON, ids, and values instead.\n${lines.map((line) => `  ${line}\n`).join('')}`,
  );
  process.exitCode = 1;
}

/** Returns the sentences in the arguments of expect(…) and its matchers, each with its line. */
function sentencesOf(path) {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const lines = [];
  const visit = (node, isAsserted) => {
    const inside = isAsserted || isAssertion(node);
    if (isAsserted && isSentence(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      lines.push(`${line + 1}: ${node.getText().replace(/\s+/g, ' ').slice(0, 100)}`);
    }
    ts.forEachChild(node, (child) => visit(child, inside && !startsCommand(node)));
  };
  visit(source, false);
  return lines;
}

/** Returns true for `expect(…)` or a matcher called on it. */
function isAssertion(node) {
  if (!ts.isCallExpression(node)) return false;
  let at = node.expression;
  while (ts.isPropertyAccessExpression(at) || ts.isCallExpression(at)) at = at.expression;
  return ts.isIdentifier(at) && at.text === 'expect';
}

/** Returns true for a command line, which isn't an assertion even inside one: expect(await home.run`…`). */
function startsCommand(node) {
  if (ts.isTaggedTemplateExpression(node)) return true;
  return ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text !== 'expect';
}

function isSentence(node) {
  if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node) && !ts.isRegularExpressionLiteral(node))
    return false;
  const text = node.getText().replace(/\$\{[^}]*\}/g, '0');
  return (text.slice(1, -1).match(WORD)?.length ?? 0) > MOST_WORDS;
}
