import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'docs/pictures');
const pictures = await readdir(folder);
const pages = await Promise.all(
  [
    'README.md',
    ...(await readdir(join(root, 'docs')))
      .filter((file) => file.endsWith('.md'))
      .map((file) => `docs/${file}`),
  ].map((page) => readFile(join(root, page), 'utf8')),
);

const drawings = pictures.filter((name) => name.endsWith('.svg'));
const photographs = pictures.filter((name) => name.endsWith('.png'));

it('keeps only drawings and pictures that are used on pages in docs/pictures', () => {
  expect([...drawings, ...photographs].toSorted()).toEqual(pictures.toSorted());
});

it.each(photographs)('keeps docs/pictures/%s small', async (name) => {
  const bytes = await readFile(join(folder, name));
  expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  expect(bytes.byteLength).toBeLessThan(200_000);
});

describe.each(pictures)('docs/pictures/%s', (name) => {
  it('is used on a page with alternative text', () => {
    const shown = new RegExp(`!\\[[^\\]]{20,}\\]\\((?:docs/)?pictures/${name.replace('.', '\\.')}\\)`);
    expect(pages.some((page) => shown.test(page))).toBe(true);
  });

  it.skipIf(photographs.includes(name))(
    'is a drawing that loads nothing and reveals nothing about the build machine',
    async () => {
      const svg = await readFile(join(folder, name), 'utf8');
      expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="\d+" height="\d+"/);
      expect(svg).toContain('<title>esign ');
      expect(svg.match(/<text /g)?.length).toBeGreaterThan(5);
      expect(svg).not.toMatch(/<script|href="(?!#)|url\(|esk_|whsec_|\/tmp\/|\/home\/|\/Users\//);
    },
  );
});
