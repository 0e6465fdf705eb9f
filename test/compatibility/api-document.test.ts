import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentOf } from '../../scripts/api-document.js';
import { DOCUMENT } from '../../src/compatibility/api-document.ts';

const root = join(import.meta.dirname, '../..');

describe('the document that responses are compared with', () => {
  it('is contract/openapi.yaml', () => {
    expect(DOCUMENT).toEqual(documentOf(readFileSync(join(root, 'contract/openapi.yaml'), 'utf8')));
  });
});
