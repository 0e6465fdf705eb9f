import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { FIELD_TYPES } from '../../../src/sandbox/model.ts';
import { maker, template } from './samples.ts';

describe('built-in templates', () => {
  it('are the four of a new sandbox', () => {
    expect(maker.templates().map(({ id, name, pageCount, roles }) => [id, name, pageCount, roles])).toEqual([
      ['tmpl_nda', 'Confidentiality undertaking', 2, ['Signer']],
      ['tmpl_lease', 'Residential lease', 4, ['Landlord', 'Tenant']],
      ['tmpl_employment', 'Employment offer', 3, ['Employee', 'Manager', 'HR']],
      ['tmpl_intake', 'Patient intake form', 2, ['Patient']],
    ]);
    expect(template('tmpl_employment').description).toContain('SEQUENTIAL');
  });

  it('are returned as copies', () => {
    const [first] = maker.templates();
    if (first) first.fields.length = 0;
    expect(maker.templates()[0]?.fields.length).toBeGreaterThan(0);
  });

  it('include every type of field in the intake form', () => {
    expect(new Set(template('tmpl_intake').fields.map(({ type }) => type))).toEqual(new Set(FIELD_TYPES));
  });

  it.each(maker.templates())(
    'have fields inside their pages, without overlap: $name',
    ({ fields, pageCount, roles }) => {
      expect(new Set(fields.map(({ fieldId }) => fieldId)).size).toBe(fields.length);
      expect(new Set(fields.map(({ role }) => role))).toEqual(new Set(roles));
      for (const role of roles) {
        expect(
          fields.some((field) => field.role === role && field.type === 'SIGNATURE' && field.required),
        ).toBe(true);
      }
      for (const field of fields) {
        expect(field.page).toBeGreaterThanOrEqual(1);
        expect(field.page).toBeLessThanOrEqual(pageCount);
        expect(field.x).toBeGreaterThanOrEqual(64);
        expect(field.x + field.width).toBeLessThanOrEqual(531.5);
        expect(field.y).toBeGreaterThanOrEqual(64);
        expect(field.y + field.height).toBeLessThanOrEqual(780);
        expect(field.type === 'DROPDOWN').toBe((field.options?.length ?? 0) > 1);
      }
      for (const [index, a] of fields.entries()) {
        for (const b of fields.slice(index + 1).filter(({ page }) => page === a.page)) {
          const apart =
            a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
          expect(apart, `${a.fieldId} and ${b.fieldId}`).toBe(true);
        }
      }
    },
  );

  it('need no PDF code and no font', async () => {
    const entry = fileURLToPath(new URL('../../../src/sandbox/documents/index.ts', import.meta.url));
    const { metafile } = await build({
      entryPoints: [entry],
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      outdir: 'unused',
      write: false,
      metafile: true,
    });
    const outputs = Object.values(metafile.outputs);
    const loaded = outputs
      .filter(({ entryPoint }) => entryPoint?.endsWith('documents/index.ts'))
      .flatMap(({ imports }) => imports.filter(({ kind }) => kind === 'import-statement'))
      .flatMap(({ path }) => [path, ...(metafile.outputs[path]?.imports.map((inner) => inner.path) ?? [])]);
    const external = loaded.filter((path) => !path.startsWith('unused/'));
    expect([...new Set(external)]).toEqual(['zod']);
    expect(outputs.flatMap(({ imports }) => imports.map(({ path }) => path))).toContain('@libpdf/core');
  });
});
