import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentOf } from '../../scripts/api-document.js';
import { DOCUMENT } from '../../src/compatibility/document.ts';
import { OPEN_POINTS } from '../../src/compatibility/open-points.ts';
import { CHOICES } from '../../src/sandbox/service/base/choices.ts';

const root = join(import.meta.dirname, '../..');

describe('the document that responses are compared with', () => {
  it('is contract/openapi.yaml', () => {
    expect(DOCUMENT).toEqual(documentOf(readFileSync(join(root, 'contract/openapi.yaml'), 'utf8')));
  });

  it('contains each open point of the sandbox, with its readings', () => {
    const valuesOf = (points: Readonly<Record<string, { values: readonly string[] }>>) =>
      Object.fromEntries(Object.entries(points).map(([name, { values }]) => [name, values]));
    expect(valuesOf(OPEN_POINTS)).toEqual(valuesOf(CHOICES));
  });
});
