import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { PDF } from '@libpdf/core';
import { type Inspection, type PageSize, UPLOAD } from '../model.ts';
import { openPdf } from './pdf/pdf.ts';
import { viewOf } from './pdf/view.ts';

/** The thread's program, which exists only in a build, not in the sources. */
const PROGRAM = join(import.meta.dirname, 'inspect-worker.js');
const TIMEOUT_MS = 10_000;
const MEMORY_MB = 512;

/**
 * Inspects a file in a separate thread. On some damaged files, the PDF library loops forever or uses all memory, which must not affect the
 * sandbox.
 */
export function inspectInWorker(bytes: Uint8Array): Promise<Inspection> {
  if (!existsSync(PROGRAM)) return inspectPdf(bytes);
  const worker = new Worker(PROGRAM, {
    workerData: bytes,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  return new Promise((resolve) => {
    const end = (inspection: Inspection) => {
      clearTimeout(timeout);
      resolve(inspection);
      void worker.terminate();
    };
    const problem = 'The PDF cannot be read: it is damaged or too complex.';
    const timeout = setTimeout(() => end({ problem }), TIMEOUT_MS);
    worker.once('message', (inspection: Inspection) => end(inspection));
    worker.once('error', () => end({ problem }));
  });
}

/** Checks that a file can be used as the pages of a template: complete, unprotected, unsigned, and with pages of a usable size. */
export async function inspectPdf(bytes: Uint8Array): Promise<Inspection> {
  if (!Buffer.from(bytes.subarray(0, 1_024)).includes('%PDF-'))
    return { problem: 'The file is not a PDF: it does not begin with %PDF-.' };
  try {
    const pdf = await PDF.load(bytes);
    const problem = problemWith(pdf);
    if (problem !== undefined) return { problem };
    const pages = sizesOf(pdf);
    const oddSize = problemWithPages(pages);
    if (oddSize !== undefined) return { problem: oddSize };
    await tryDocuments(bytes);
    return { pages };
  } catch {
    return { problem: 'The PDF cannot be read: it is damaged or incomplete.' };
  }
}

/** Draws on the file as documents will, so that a file on which that fails is rejected now, not when an envelope is created. */
async function tryDocuments(bytes: Uint8Array): Promise<void> {
  const pdf = await openPdf(bytes);
  const edge = { color: [0, 0, 0], width: 1 } as const;
  for (const sheet of pdf.sheets) sheet.line([0, 0], [1, 1], edge);
  const saved = await pdf.save({ title: '', subject: '', keywords: [], at: new Date(0).toISOString() });
  await openPdf(saved);
}

function problemWith(pdf: PDF): string | undefined {
  if (pdf.isEncrypted)
    return 'The PDF is protected. Save it without a password or restrictions, and upload the new file.';
  if (pdf.recoveredViaBruteForce)
    return 'The PDF is damaged or incomplete. Open it in a PDF viewer, save it again, and upload the new file.';
  const signatures = pdf.getForm()?.getSignatureFields() ?? [];
  if (signatures.some((field) => field.isSigned()))
    return 'The PDF is already signed, and adding fields would break the signature. Upload an unsigned PDF.';
  return undefined;
}

function sizesOf(pdf: PDF): PageSize[] {
  return pdf.getPages().map((page) => {
    const { width, height } = viewOf(pdf, page);
    return { width: Math.round(width * 100) / 100, height: Math.round(height * 100) / 100 };
  });
}

function problemWithPages(pages: readonly PageSize[]): string | undefined {
  if (pages.length === 0) return 'The PDF has no pages.';
  if (pages.length > UPLOAD.pages) return `The PDF has more than ${UPLOAD.pages} pages.`;
  const odd = pages.findIndex(({ width, height }) =>
    [width, height].some((side) => side < UPLOAD.shortest || side > UPLOAD.longest),
  );
  if (odd === -1) return undefined;
  return `Page ${odd + 1} has an unusual size: its sides must be from ${UPLOAD.shortest} to ${UPLOAD.longest} points.`;
}
