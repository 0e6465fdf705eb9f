import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isRecord, parseJson } from '../../src/kernel/json.ts';

const root = join(import.meta.dirname, '../..');
const read = (name: string) => readFile(join(root, name), 'utf8');

const manifest = parseJson(await read('package.json'));
const scripts = isRecord(manifest) && isRecord(manifest.scripts) ? Object.keys(manifest.scripts) : [];
const workflows = (await readdir(join(root, '.github/workflows'))).map((name) => `.github/workflows/${name}`);
const pages = ['.github/CONTRIBUTING.md', 'docs/packaging.md'];

describe('what the workflows and pages on packaging name', () => {
  it.each([...workflows, ...pages])('is there: %s', async (name) => {
    const text = await read(name);
    const run = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, script]) => script);
    const files = [...text.matchAll(/\b(?:scripts|test|src)\/[\w./-]+\.(?:js|mjs|json|rb|ts)\b/g)].map(
      ([file]) => file,
    );
    expect(run.filter((script) => script !== undefined && !scripts.includes(script))).toEqual([]);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(run.length + files.length).toBeGreaterThan(0);
  });

  it.each(workflows)('is well formed and reaches no fixed host: %s', async (name) => {
    const text = await read(name);
    const workflow: unknown = parse(text);
    expect(workflow).toHaveProperty('jobs');
    // Rights are given where they are needed, not by default.
    expect(workflow).toHaveProperty('permissions', { contents: 'read' });
    expect(text).not.toMatch(/https?:\/\//);
  });

  it.each(['dependabot.yml', 'ISSUE_TEMPLATE/bug.yml', 'ISSUE_TEMPLATE/wish.yml'])(
    'is well formed: %s',
    async (name) => {
      const value: unknown = parse(await read(join('.github', name)));
      expect(isRecord(value)).toBe(true);
    },
  );
});

describe('the package', () => {
  it('brings its machine code as an option and everything else in the bundle', () => {
    expect(manifest).not.toHaveProperty('dependencies');
  });
});
