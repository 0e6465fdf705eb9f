import type { PaperMaker } from '../model.ts';
import { BUILT_IN } from './templates/all.ts';

/**
 * The maker of an envelope's three papers. PDF code and fonts are loaded with the first paper,
 * so that a sandbox starts at once and `templates()` costs nothing.
 */
export function createPaperMaker(): PaperMaker {
  return {
    async document(template) {
      const { drawDocument } = await import('./document.ts');
      return drawDocument(template);
    },
    async signed(input) {
      const { drawSigned } = await import('./signed.ts');
      return drawSigned(input);
    },
    async certificate(input) {
      const { drawCertificate } = await import('./certificate.ts');
      return drawCertificate(input);
    },
    templates: () => BUILT_IN.map(({ record }) => structuredClone(record)),
  };
}
