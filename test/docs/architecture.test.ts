import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const PAGE = readFileSync('docs/architecture.md', 'utf8');

describe('the architecture page', () => {
  it('names only existing paths', () => {
    const named = [...PAGE.matchAll(/`([a-z][\w-]*(?:\/[\w.{},-]+)+\/?)`/g)].map(([, path]) => path ?? '');
    expect(named.length).toBeGreaterThan(30);
    const missing = named.filter((path) => !expanded(path).every(exists));
    expect(missing).toEqual([]);
  });

  it('names each folder of cli/', () => {
    const shared = ['boot', 'input', 'prompts'];
    const topics = foldersOf('src/cli').filter((name) => !shared.includes(name));
    expect(topics.filter((name) => !PAGE.includes(`cli/${name}`))).toEqual([]);
  });

  it('has no folder with more than 20 files', () => {
    const full = [...walk('src')].filter((folder) => filesOf(folder).length > 20);
    expect(full).toEqual([]);
  });
});

describe('the README of a folder in src/', () => {
  const pages = [...walk('src')].filter((folder) => existsSync(join(folder, 'README.md')));

  it.each(pages)('names only files and folders that exist: %s', (folder) => {
    const page = readFileSync(join(folder, 'README.md'), 'utf8');
    const named = [...page.matchAll(/`([a-z][\w-]*(?:\/[\w-]+)*(?:\/|\.ts))`/g)].map(
      ([, path]) => path ?? '',
    );
    expect(named.length).toBeGreaterThan(1);
    const paths = [folder, 'src'].flatMap((base) => readdirSync(base, { recursive: true, encoding: 'utf8' }));
    const exists = (name: string) => paths.some((path) => `/${path}`.endsWith(`/${name.replace(/\/$/, '')}`));
    expect(named.filter((name) => !exists(name))).toEqual([]);
  });
});

/** Types that client/model.ts repeats for `esign-cli/client`, so that its declarations need no other package. */
const PUBLIC_COPIES = ['Envelope', 'EnvelopeStatus', 'Signer', 'Template', 'TemplateField'];

describe('exported types', () => {
  it('each have a unique name', () => {
    const files = [...walk('src')].flatMap((folder) => filesOf(folder).map((name) => join(folder, name)));
    const names = files.filter((file) => file.endsWith('.ts')).flatMap((file) => exportedTypesOf(file));
    const repeated = names.filter((name, index) => names.indexOf(name) !== index);
    expect(repeated.sort()).toEqual(PUBLIC_COPIES);
  });
});

describe('decisions', () => {
  it.each(readdirSync('docs/decisions').filter((name) => /^\d{4}-/.test(name)))(
    'checks that %s has the required form',
    (name) => {
      const text = readFileSync(join('docs/decisions', name), 'utf8');
      expect(text).toMatch(/^# \d{4}: .+\n\nStatus: .+ Date: \d{4}-\d{2}\.\n/);
      expect(text.match(/^## .+$/gm)).toEqual(['## Context', '## Decision', '## Consequences']);
    },
  );
});

/** Expands `cli/{input,prompts}/` to the two paths. */
function expanded(path: string): string[] {
  const [, before = '', names, after = ''] = /^(.*?)\{(.+)\}(.*)$/.exec(path) ?? [];
  return names === undefined ? [path] : names.split(',').map((name) => before + name + after);
}

/** Returns true if the path exists from the root, from src/, or from one of these topics' folders. */
function exists(path: string): boolean {
  const bases = ['', 'src', 'src/sandbox', 'src/documents', 'src/webhooks'];
  return bases.some((base) => existsSync(join(base, path)));
}

function exportedTypesOf(file: string): string[] {
  const declarations = /^export (?:abstract )?(?:interface|type|class|enum) (\w+)/gm;
  return [...readFileSync(file, 'utf8').matchAll(declarations)].map(([, name]) => name ?? '');
}

function foldersOf(folder: string): string[] {
  return readdirSync(folder).filter((name) => statSync(join(folder, name)).isDirectory());
}

function filesOf(folder: string): string[] {
  return readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());
}

function* walk(folder: string): Generator<string> {
  yield folder;
  for (const name of foldersOf(folder)) yield* walk(join(folder, name));
}
