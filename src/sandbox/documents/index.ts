import { dropOldest } from '../../kernel/drop-oldest.ts';
import type { DocumentMaker, EnvelopeRecord, TemplateRecord } from '../model.ts';
import type { SealKey } from './seal.ts';
import { BUILT_IN } from './templates/built-in-templates.ts';

/**
 * Creates the maker of an envelope's three documents. PDF code and fonts are loaded for the first document, so that a sandbox starts
 * immediately and `templates()` is fast. If a folder for the key is given, signed.pdf and certificate.pdf are sealed.
 */
export function createDocumentMaker(
  options: { sealFolder?: string; hasBuiltIn?: boolean } = {},
): DocumentMaker {
  const { sealFolder, hasBuiltIn = true } = options;
  let sealKey: Promise<SealKey> | undefined;
  async function sealed(pdf: Uint8Array, { completedAt, createdAt }: EnvelopeRecord): Promise<Uint8Array> {
    if (sealFolder === undefined) return pdf;
    const { loadSealKey, sealPdf } = await import('./seal.ts');
    sealKey ??= loadSealKey(sealFolder);
    return sealPdf(pdf, await sealKey, completedAt ?? createdAt);
  }
  return {
    document: drawOnce,
    async signed(input) {
      const { drawSigned } = await import('./signed.ts');
      return sealed(await drawSigned(input), input.envelope);
    },
    async certificate(input) {
      const { drawCertificate } = await import('./certificate.ts');
      return sealed(await drawCertificate(input), input.envelope);
    },
    async tampered(pdf, how) {
      const { tamperWith } = await import('./tampering.ts');
      return tamperWith(pdf, how);
    },
    templates: () => (hasBuiltIn ? BUILT_IN.map(({ record }) => structuredClone(record)) : []),
  };
}

/** The documents of the latest templates, shared by all sandboxes of a process: drawing one takes a tenth of a second or more. */
const drawn = new Map<string, Promise<Uint8Array>>();
const DRAWN_MAX = 8;

function drawOnce(template: TemplateRecord): Promise<Uint8Array> {
  const key = JSON.stringify(template);
  const document =
    drawn.get(key) ?? import('./document.ts').then((drawing) => drawing.drawDocument(template));
  drawn.delete(key);
  drawn.set(key, document);
  dropOldest(drawn, DRAWN_MAX);
  document.catch(() => drawn.delete(key));
  return document;
}
