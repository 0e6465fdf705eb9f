import type { CertificateInput, HistoryEntry, SignerRecord } from '../model.ts';
import { createFlow, drawFooter, drawSandboxMark, type Flow } from './drawing/flow.ts';
import { STYLES } from './drawing/pen.ts';
import { formatTime } from './drawing/times.ts';
import { createPdf } from './pdf/pdf.ts';
import { inSigningOrder } from './signed.ts';
import { onOneLine } from './text/untrusted.ts';

const TITLE = 'Certificate of completion';

/**
 * Draws certificate.pdf: what was signed, by whom, and when, with the digests of the two other documents. The file's keywords contain the
 * envelope ID and both digests.
 */
export async function drawCertificate(input: CertificateInput): Promise<Uint8Array> {
  const { envelope, documentSha256, signedSha256 } = input;
  const pdf = createPdf();
  const { type } = pdf;
  const flow = createFlow(pdf);
  const signers = inSigningOrder(envelope.signers);
  flow.title(TITLE, 'A record of how this envelope was sent, viewed, and signed');
  drawEnvelope(flow, input);
  drawDigests(flow, input);
  flow.heading(`Signers (${signers.length})`, 60);
  for (const signer of signers) drawSigner(flow, signer);
  flow.heading(`History (${envelope.history.length})`, 40);
  for (const entry of envelope.history) drawEntry(flow, entry, signers);

  for (const [index, sheet] of pdf.sheets.entries()) {
    drawFooter({ sheet, type }, TITLE, `Page ${index + 1} of ${pdf.sheets.length}`);
    drawSandboxMark({ sheet, type }, envelope.id);
  }
  return pdf.save({
    title: `${TITLE} for envelope ${envelope.id}`,
    subject: onOneLine(envelope.subject),
    keywords: [envelope.id, documentSha256, signedSha256],
    at: envelope.completedAt ?? envelope.createdAt,
  });
}

function drawEnvelope(flow: Flow, { envelope, template }: CertificateInput): void {
  const order =
    envelope.signingOrder === 'SEQUENTIAL'
      ? 'Sequential: each signer was asked to sign after the previous signer signed'
      : 'Parallel: all signers were asked at the same time';
  flow.heading('Envelope', 60);
  flow.fact('Envelope ID', [onOneLine(envelope.id)], STYLES.mono);
  flow.fact('Subject', [onOneLine(envelope.subject)]);
  flow.fact('Document', [`${onOneLine(envelope.templateName)} (${onOneLine(template.id)})`]);
  flow.fact('Signing order', [order]);
  flow.fact('Created', [formatTime(envelope.createdAt)]);
  flow.fact('Sent', [formatTime(envelope.sentAt)]);
  flow.fact('Completed', [formatTime(envelope.completedAt)]);
}

function drawDigests(flow: Flow, { documentSha256, signedSha256 }: CertificateInput): void {
  flow.heading('Digests (SHA-256)', 40);
  flow.fact('document.pdf', [documentSha256], STYLES.mono);
  flow.fact('signed.pdf', [signedSha256], STYLES.mono);
}

function drawSigner(flow: Flow, signer: SignerRecord): void {
  const { order, role, name, email, signedAt, declinedAt, declineReason, signatureId } = signer;
  const outcome =
    declinedAt === null
      ? [`Signed ${formatTime(signedAt)}`, `Signature ID ${signatureId}`]
      : [`Declined ${formatTime(declinedAt)}: ${declineReason ?? ''}`];
  const lines = [`${name} (${email})`, ...outcome];
  flow.fact(`${order}. ${onOneLine(role)}`, lines.map(onOneLine));
}

function drawEntry(flow: Flow, entry: HistoryEntry, signers: readonly SignerRecord[]): void {
  const signer = signers.find(({ id }) => id === entry.signerId);
  const facts = [entry.what, signer && `${signer.name} (${signer.email})`, entry.detail];
  flow.fact(formatTime(entry.at), [onOneLine(facts.filter(Boolean).join(' · '))]);
}
