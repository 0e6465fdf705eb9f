import type { Drawing, FieldRecord, SignedInput, SignerRecord, TemplateRecord } from '../model.ts';
import { drawFilledField, drawnSignature, drawSignature, inputOf, valueIn } from './drawing/filled-fields.ts';
import { createFlow, drawFooter, drawSandboxMark, FLOW, type Flow } from './drawing/flow.ts';
import { baseline, drawFieldBox, drawFitted, STYLES } from './drawing/pen.ts';
import { openPdf, type Pdf } from './pdf/pdf.ts';
import { oneLine, paragraphsOf } from './text/untrusted.ts';

/** A value from a signer that doesn't fit on the template's pages. */
interface Entry {
  signer: SignerRecord;
  label: string;
  value: string | Drawing;
}

/**
 * Draws signed.pdf: document.pdf with each signer's values in the fields of the signer's role. The first signer of a role gets its fields.
 * Further signers of the role, and values that are longer than their box, are shown on appended pages. Rejects if `document` isn't a PDF.
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
  const overlong = drawFields(pdf, template.fields, holders);
  const others = signers.filter((signer) => holders.get(signer.role) !== signer);
  const entries = [...overlong, ...others.flatMap((signer) => entriesOf(template.fields, signer))];

  const own = pdf.sheets.length;
  if (others.length > 0 || entries.length > 0) {
    drawAppendix(createFlow(pdf), template, others, entries);
    const appended = pdf.sheets.length - own;
    for (const [index, sheet] of pdf.sheets.slice(own).entries()) {
      drawFooter({ sheet, type }, envelope.templateName, `Appended page ${index + 1} of ${appended}`);
    }
  }
  for (const sheet of pdf.sheets) drawSandboxMark({ sheet, type }, envelope.id);
  return pdf.save({
    title: `${oneLine(envelope.templateName)} (signed)`,
    subject: `Envelope ${envelope.id}: ${oneLine(envelope.subject)}`,
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
): Entry[] {
  return fields.flatMap((field) => {
    const signer = holders.get(field.role);
    if (!signer) return [];
    const sheet = pdf.sheets[field.page - 1];
    if (sheet && drawFilledField({ sheet, type: pdf.type }, field, signer)) return [];
    return [{ signer, label: field.label, value: valueIn(field, signer) }];
  });
}

/** Returns the values, other than signatures, of a signer who has no fields. */
function entriesOf(fields: readonly FieldRecord[], signer: SignerRecord): Entry[] {
  return fields
    .filter((field) => field.type !== 'SIGNATURE')
    .map((field) => ({ signer, label: field.label, value: shownValue(field, signer) }))
    .filter(({ value }) => typeof value !== 'string' || value.trim() !== '');
}

function shownValue(field: FieldRecord, signer: SignerRecord): string | Drawing {
  const value = inputOf(field, signer);
  if (field.type !== 'CHECKBOX') return value;
  return value === 'true' ? 'Yes' : '';
}

function drawAppendix(
  flow: Flow,
  { name, fields }: TemplateRecord,
  others: readonly SignerRecord[],
  entries: readonly Entry[],
): void {
  const what = others.length > 0 ? 'Additional signatures' : 'Additional entries';
  flow.title(what, `Part of “${oneLine(name)}” and signed with it`);
  drawSignatures(flow, fields, others);
  if (entries.length === 0) return;
  if (others.length > 0) flow.heading('Entries', 40);
  let last: SignerRecord | undefined;
  for (const { signer, label, value } of entries) {
    if (signer !== last) {
      flow.ensureSpace(44);
      flow.top += 6;
      const line = { x: FLOW.left, y: baseline(flow.top, STRONG), width: FLOW.width };
      drawFitted(flow, `${oneLine(signer.name)}, ${oneLine(signer.role)}`, STRONG, line);
      flow.top += STRONG.leading + 2;
      last = signer;
    }
    if (typeof value === 'string') flow.fact(oneLine(label), paragraphsOf(value));
    else flow.ink(oneLine(label), value);
  }
}

const STRONG = { ...STYLES.body, use: 'strong' } as const;
const CARD = { width: 222, height: 118, second: 309, signature: 58 } as const;

/** Draws signatures, two per row, with the name, role, and email address above each. */
function drawSignatures(flow: Flow, fields: readonly FieldRecord[], signers: readonly SignerRecord[]): void {
  flow.top += 8;
  for (const [index, signer] of signers.entries()) {
    const isLeft = index % 2 === 0;
    if (isLeft) flow.ensureSpace(CARD.height);
    const { sheet, top } = flow;
    const x = isLeft ? FLOW.left : CARD.second;
    const { width } = CARD;
    drawFitted(flow, oneLine(signer.name), STRONG, { x, y: baseline(top, STRONG), width, smallest: 5 });
    const about = `${oneLine(signer.role)} · ${oneLine(signer.email)}`;
    const line = { x, y: baseline(top + 13, STYLES.small), width, smallest: 4.5 };
    drawFitted(flow, about, STYLES.small, line);
    const box = { x, y: top + 30, width, height: CARD.signature };
    drawFieldBox(sheet, box);
    drawSignature(flow, box, signer, signatureOf(fields, signer));
    if (!isLeft || index === signers.length - 1) flow.top += CARD.height;
  }
}

function signatureOf(fields: readonly FieldRecord[], signer: SignerRecord): string | Drawing {
  const drawn = drawnSignature(fields, signer);
  if (drawn !== undefined) return drawn;
  const typed = fields
    .filter(({ type }) => type === 'SIGNATURE')
    .map(({ fieldId }) => signer.values[fieldId] ?? '');
  return typed.find((text) => text.trim() !== '') ?? signer.name;
}
