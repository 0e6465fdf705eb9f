import type { FieldRecord, SignedInput, SignerRecord, TemplateRecord } from '../model.ts';
import { drawFilledField } from './drawing/filled-fields.ts';
import { createFlow, drawFooter, drawSandboxMark, type Flow } from './drawing/flow.ts';
import { formatTime } from './drawing/times.ts';
import { openPdf, type Pdf } from './pdf/pdf.ts';
import { onOneLine } from './text/untrusted.ts';

/**
 * Draws signed.pdf: document.pdf with each signer's values in the fields of the signer's role. The first signer of a role gets its fields.
 * Further signers of the role are listed on appended pages. Rejects if `document` isn't a PDF.
 */
export async function drawSigned({ template, envelope, document }: SignedInput): Promise<Uint8Array> {
  const pdf = await openPdf(document);
  const { type } = pdf;
  const signers = inSigningOrder(envelope.signers.filter(({ signedAt }) => signedAt !== null));
  const holders = new Map<string, SignerRecord>();
  for (const signer of signers) {
    if (template.fields.some(({ role }) => role === signer.role) && !holders.has(signer.role))
      holders.set(signer.role, signer);
  }
  drawFields(pdf, template.fields, holders);
  const others = signers.filter((signer) => holders.get(signer.role) !== signer);

  const own = pdf.sheets.length;
  if (others.length > 0) {
    drawAdditionalSigners(createFlow(pdf), template, others);
    const appended = pdf.sheets.length - own;
    for (const [index, sheet] of pdf.sheets.slice(own).entries()) {
      drawFooter({ sheet, type }, envelope.templateName, `Appended page ${index + 1} of ${appended}`);
    }
  }
  for (const sheet of pdf.sheets) drawSandboxMark({ sheet, type }, envelope.id);
  return pdf.save({
    title: `${onOneLine(envelope.templateName)} (signed)`,
    subject: `Envelope ${envelope.id}: ${onOneLine(envelope.subject)}`,
    keywords: [envelope.id, ...signers.map(({ signatureId }) => signatureId)],
    at: envelope.completedAt ?? envelope.createdAt,
  });
}

/** Returns the signers by signing order, then in the order they were given. */
export function inSigningOrder(signers: readonly SignerRecord[]): SignerRecord[] {
  return [...signers].sort((a, b) => a.order - b.order);
}

function drawFields(
  pdf: Pdf,
  fields: readonly FieldRecord[],
  holders: ReadonlyMap<string, SignerRecord>,
): void {
  for (const field of fields) {
    const signer = holders.get(field.role);
    const sheet = pdf.sheets[field.page - 1];
    if (signer && sheet) drawFilledField({ sheet, type: pdf.type }, field, signer);
  }
}

function drawAdditionalSigners(flow: Flow, { name }: TemplateRecord, others: readonly SignerRecord[]): void {
  flow.title('Additional signatures', `Part of “${onOneLine(name)}” and signed with it`);
  for (const signer of others) {
    const lines = [
      `${signer.name} · ${signer.email}`,
      `Signed by ${signer.name} · ${formatTime(signer.signedAt)}`,
      `ID ${signer.signatureId}`,
    ];
    flow.fact(onOneLine(signer.role), lines.map(onOneLine));
  }
}
