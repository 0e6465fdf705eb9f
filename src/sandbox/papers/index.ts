import type { EnvelopeRecord, PaperMaker } from '../model.ts';
import type { SealKey } from './seal-key.ts';
import { BUILT_IN } from './templates/all.ts';

/**
 * The maker of an envelope's three papers. PDF code and fonts are loaded with the first paper,
 * so that a sandbox starts at once and `templates()` costs nothing. With a folder for its key, signed.pdf and
 * certificate.pdf are sealed.
 */
export function createPaperMaker(options: { sealFolder?: string } = {}): PaperMaker {
  const { sealFolder } = options;
  let sealKey: Promise<SealKey> | undefined;
  async function sealed(paper: Uint8Array, { completedAt, createdAt }: EnvelopeRecord): Promise<Uint8Array> {
    if (sealFolder === undefined) return paper;
    const [{ sealKeyOf }, { sealPaper }] = await Promise.all([import('./seal-key.ts'), import('./seal.ts')]);
    sealKey ??= sealKeyOf(sealFolder);
    return sealPaper(paper, await sealKey, completedAt ?? createdAt);
  }
  return {
    async inspect(file) {
      const { inspectAside } = await import('./inspect-thread.ts');
      return inspectAside(file);
    },
    async document(template, upload) {
      const { drawDocument, drawOver } = await import('./document.ts');
      return upload === undefined ? drawDocument(template) : drawOver(template, upload);
    },
    async signed(input) {
      const { drawSigned } = await import('./signed.ts');
      return sealed(await drawSigned(input), input.envelope);
    },
    async certificate(input) {
      const { drawCertificate } = await import('./certificate.ts');
      return sealed(await drawCertificate(input), input.envelope);
    },
    async tampered(paper, how) {
      const { tampered } = await import('./tampering/families.ts');
      return tampered(paper, how);
    },
    templates: () => BUILT_IN.map(({ record }) => structuredClone(record)),
  };
}
