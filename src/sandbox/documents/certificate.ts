import type { CertificateInput, HistoryEntry, SignerRecord } from '../model.ts';
import { Flow } from './flow.ts';
import { Pdf } from './pdf.ts';
import { inSigningOrder } from './signed.ts';
import { formatTime } from './times.ts';
import { onOneLine } from './untrusted-text.ts';

const TITLE = 'Certificate of completion';

/**
 * Draws certificate.pdf: what was signed, by whom, and when, with the digests of the two other documents. The file's keywords contain the
 * envelope ID and both digests.
 */
export async function drawCertificate(input: CertificateInput): Promise<Uint8Array> {
  const { envelope, template, documentSha256, signedSha256 } = input;
  const pdf = new Pdf();
  const flow = new Flow(pdf);
  const signers = inSigningOrder(envelope.signers);
  flow.title(TITLE, 'A record of how this envelope was sent, viewed, and signed');
  flow.heading('Envelope');
  flow.fact('Envelope ID', onOneLine(envelope.id));
  flow.fact('Subject', onOneLine(envelope.subject));
  flow.fact('Document', `${onOneLine(envelope.templateName)} (${onOneLine(template.id)})`);
  flow.fact('Signing order', ORDERS[envelope.signingOrder]);
  flow.fact('Created', formatTime(envelope.createdAt));
  flow.fact('Sent', formatTime(envelope.sentAt));
  flow.fact('Completed', formatTime(envelope.completedAt));
  flow.heading('Digests (SHA-256)');
  flow.fact('document.pdf', documentSha256);
  flow.fact('signed.pdf', signedSha256);
  flow.heading(`Signers (${signers.length})`);
  for (const signer of signers) drawSigner(flow, signer);
  flow.heading(`History (${envelope.history.length})`);
  for (const entry of envelope.history) drawEntry(flow, entry, signers);
  for (const [index, sheet] of pdf.sheets.entries()) {
    sheet.footer(`${TITLE} · Page ${index + 1} of ${pdf.sheets.length}`);
    sheet.mark(envelope.id);
  }
  return pdf.save({
    title: `${TITLE} for envelope ${envelope.id}`,
    subject: onOneLine(envelope.subject),
    keywords: [envelope.id, documentSha256, signedSha256],
    at: envelope.completedAt ?? envelope.createdAt,
  });
}

const ORDERS = {
  SEQUENTIAL: 'Sequential: each signer was asked to sign after the previous signer signed',
  PARALLEL: 'Parallel: all signers were asked at the same time',
};

function drawSigner(flow: Flow, signer: SignerRecord): void {
  const { order, role, name, email, signedAt, declinedAt, declineReason, signatureId } = signer;
  const outcome =
    declinedAt === null
      ? [`Signed ${formatTime(signedAt)}`, `Signature ID ${signatureId}`]
      : [`Declined ${formatTime(declinedAt)}: ${declineReason ?? ''}`];
  flow.fact(`${order}. ${onOneLine(role)}`, ...[`${name} (${email})`, ...outcome].map(onOneLine));
}

function drawEntry(flow: Flow, entry: HistoryEntry, signers: readonly SignerRecord[]): void {
  const signer = signers.find(({ id }) => id === entry.signerId);
  const facts = [entry.what, signer && `${signer.name} (${signer.email})`, entry.detail];
  flow.fact(formatTime(entry.at), onOneLine(facts.filter(Boolean).join(' · ')));
}
