import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const src = join(import.meta.dirname, '../../src');

interface Said {
  where: string;
  text: string;
}

/** Source files of the CLI without the sandbox, which uses the service's wording. */
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !/^sandbox[/\\](?!commands|control)/.test(file))
  .map((file) =>
    ts.createSourceFile(file, readFileSync(join(src, file), 'utf8'), ts.ScriptTarget.Latest, true),
  );

function visit<T>(find: (node: ts.Node, file: ts.SourceFile) => T[]): T[] {
  return files.flatMap((file) => {
    const found: T[] = [];
    const walk = (node: ts.Node): void => {
      found.push(...find(node, file));
      ts.forEachChild(node, walk);
    };
    walk(file);
    return found;
  });
}

const lineOf = (node: ts.Node, file: ts.SourceFile) =>
  `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;

describe('messages', () => {
  it('end each usage error with what to do next', () => {
    const bare = visit<Said>((node, file) => {
      if (!ts.isNewExpression(node) || node.expression.getText() !== 'UsageError') return [];
      const text = node.getText();
      // Declined prompts and internal errors need no advice. The doctor adds its own to each finding.
      const isDecided = /Not confirmed|\('taken'\)/.test(text) || file.fileName.includes('doctor');
      return text.includes('hint') || isDecided ? [] : [{ where: lineOf(node, file), text }];
    });
    expect(bare).toEqual([]);
  });
});
