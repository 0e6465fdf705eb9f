import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  parseNameTemplate,
  renderName,
  valuesOfEnvelope,
} from '../../../src/documents/archive/file-name-template.ts';
import { safeFileName } from '../../../src/documents/archive/file-names.ts';
import { isInsideFolder } from '../../../src/documents/archive/manifest.ts';

const envelope = {
  id: 'env_1',
  templateName: 'Lease / "flat" 4',
  completedAt: '2026-03-09T23:59:58.000Z',
  metadata: { deal: '../../etc', count: 3 },
};
const render = (text: string, more: object = {}) =>
  renderName(
    parseNameTemplate(text, 'envelope'),
    valuesOfEnvelope({ ...envelope, ...more }, 'signed', 'org/env_1/signed.pdf'),
  );

describe('a file name', () => {
  it('is a single path component that is valid on every system, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        const name = safeFileName(text);
        expect(name).not.toMatch(/[/\\\p{Cc}]/u);
        expect(name).not.toMatch(/^\.|[. ]$/);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(240);
        expect(isInsideFolder(name)).toBe(true);
      }),
    );
  });

  it.each(['CON', 'nul.txt', 'COM1.pdf', 'com¹.pdf', 'CONIN$', 'Aux.pdf'])('prefixes %s', (name) => {
    expect(safeFileName(name)).toBe(`_${name}`);
  });

  it("never equals one of the folder's own files", () => {
    expect(safeFileName('sha256sums')).toBe('_sha256sums');
    expect(safeFileName('x.pdf.part')).toBe('x.pdf.part_');
    expect(safeFileName('x.Sealed.pdf')).toBe('x.Sealed_.pdf');
    expect(safeFileName('.esign.lock')).toBe('_esign.lock');
  });

  it('keeps its extension when it is truncated, and stays distinct', () => {
    const long = '李'.repeat(150);
    const [one, other] = [safeFileName(`${long}1.signed.pdf`), safeFileName(`${long}2.signed.pdf`)];
    expect(one).toMatch(/^李+~[0-9a-f]{8}\.signed\.pdf$/);
    expect(one).not.toBe(other);
    expect(Buffer.byteLength(one)).toBeLessThanOrEqual(200);
  });
});

describe('a name template', () => {
  it('builds paths from envelope fields', () => {
    expect(render('{completedAt:yyyy-MM}/{templateName}/{envelopeId}.{what}.pdf')).toBe(
      '2026-03/Lease _ _flat_ 4/env_1.signed.pdf',
    );
    const signers = [{ name: 'Zoë Müller', email: 'zoe@example.com' }, { name: 'Bo Li' }];
    expect(render('{signer}/{what}.pdf', { signers })).toBe('Zoë Müller/signed.pdf');
    expect(render('{signer}.pdf', { signers: [{ email: 'bo@example.com' }] })).toBe('bo@example.com.pdf');
    expect(render('{completedAt:yyyy.MM.dd HH-mm-ss}-{metadata.count}.pdf')).toBe(
      '2026.03.09 23-59-58-3.pdf',
    );
    expect(render('{completedAt}/{key}')).toBe('2026-03-09/org/env_1/signed.pdf');
  });

  it('never leaves its folder, for any value', () => {
    expect(render('{metadata.deal}/{envelopeId}.pdf')).toBe(
      '_._.._etc/env_1.pdf'.replace('_._.._etc', safeFileName('.._.._etc')),
    );
    expect(render('{templateName}/x.pdf', { templateName: '..' })).toBe('_/x.pdf');
    const key = (text: string) => renderName(parseNameTemplate('{key}', 'key'), { key: text });
    for (const hostile of [
      'a/../../x',
      '..\\x',
      '/etc/passwd',
      '../../..',
      'C:\\x',
      'a//./b',
      '\u0000/\u0000',
    ])
      expect(isInsideFolder(key(hostile)), hostile).toBe(true);
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), (text) =>
        isInsideFolder(`x/${key(`k${text}`)}`),
      ),
    );
  });

  it.each([
    ['{nope}.pdf', 'Unknown field {nope}'],
    ['{what.pdf', 'unmatched brace'],
    ['{completedAt:QQ}.pdf', 'Invalid date format'],
    ['{what:yyyy}.pdf', 'Invalid date format'],
  ])('is refused: %s', (text, words) => {
    expect(() => parseNameTemplate(text, 'envelope')).toThrow(words);
  });

  it('has placeholders for unknown values', () => {
    expect(render('{completedAt:yyyy}/{metadata.none}.pdf', { completedAt: null })).toBe(
      'no-completedAt/no-metadata.none.pdf',
    );
    expect(render('/abs//{what}.pdf')).toBe('abs/signed.pdf');
    expect(render('../{what}.pdf')).toBe('_/signed.pdf');
  });
});
