import type { SignedInput, SignerRecord } from '../model.ts';
import { drawFilledField } from './filled-fields.ts';
import { Flow } from './flow.ts';
import { Pdf } from './pdf.ts';
import { formatTime } from './times.ts';
import { onOneLine } from './untrusted-text.ts';

/**
 * Draws signed.pdf: document.pdf with each signer's values in the fields of the signer's role. The first signer of a role gets its fields.
 * Further signers of the role are listed on appended pages. Rejects if `document` isn't a PDF.
 */
export async function drawSigned({ template, envelope, document }: SignedInput): Promise<Uint8Array> {
  const pdf = await Pdf.open(document);
  const signers = inSigningOrder(envelope.signers.filter(({ signedAt }) => signedAt !== null));
  const others = new Set(signers);
  for (const field of template.fields) {
    const holder = signers.find(({ role }) => role === field.role);
    const sheet = pdf.sheets[field.page - 1];
    if (holder === undefined || sheet === undefined) continue;
    drawFilledField(sheet, field, holder);
    others.delete(holder);
  }
  const name = onOneLine(envelope.templateName);
  const own = pdf.sheets.length;
  if (others.size > 0) drawAdditionalSigners(new Flow(pdf), name, others);
  const appended = pdf.sheets.slice(own);
  for (const [index, sheet] of appended.entries())
    sheet.footer(`${name} · Appended page ${index + 1} of ${appended.length}`);
  for (const sheet of pdf.sheets) sheet.mark(envelope.id);
  return pdf.save({
    title: `${name} (signed)`,
    subject: `Envelope ${envelope.id}: ${onOneLine(envelope.subject)}`,
    keywords: [envelope.id, ...signers.map(({ signatureId }) => signatureId)],
    at: envelope.completedAt ?? envelope.createdAt,
  });
}

/** Returns the signers by signing order, then in the order they were given. */
export function inSigningOrder(signers: readonly SignerRecord[]): SignerRecord[] {
  return [...signers].sort((a, b) => a.order - b.order);
}

function drawAdditionalSigners(flow: Flow, name: string, others: Iterable<SignerRecord>): void {
  flow.title('Additional signatures', `Part of “${name}” and signed with it`);
  for (const signer of others) {
    const lines = [
      `${signer.name} · ${signer.email}`,
      `Signed by ${signer.name} · ${formatTime(signer.signedAt)}`,
      `ID ${signer.signatureId}`,
    ];
    flow.fact(onOneLine(signer.role), ...lines.map(onOneLine));
  }
}
