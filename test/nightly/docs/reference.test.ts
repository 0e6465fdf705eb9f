import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const inDocs = await readdir(join(root, 'docs'), { recursive: true });
const pages = [
  'README.md',
  'skills/esign/SKILL.md',
  ...inDocs.filter((file) => file.endsWith('.md')).map((file) => join('docs', file)),
];

/** Returns the anchors of a page's headings, as GitHub creates them. */
async function anchorsOf(path: string): Promise<string[]> {
  const text = (await readFile(path, 'utf8')).replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the guides', () => {
  it('are up to date where they are generated', () => {
    const words = [join(root, 'scripts/reference.js'), '--check'];
    const { stderr, status } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  it.each(pages)('link to existing targets: %s', async (page) => {
    const text = await readFile(join(root, page), 'utf8');
    const missing: string[] = [];
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [file = '', anchor] = target.split('#');
      const path = file === '' ? join(root, page) : join(root, dirname(page), file);
      if (!existsSync(path)) missing.push(target);
      else if (anchor !== undefined && !(await anchorsOf(path)).includes(anchor)) missing.push(target);
    }
    expect(missing).toEqual([]);
  });
});
