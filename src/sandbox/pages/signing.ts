import { day, statusChip } from '../../pages/components.ts';
import { html, verbatim } from '../../pages/html.ts';
import type { EnvelopeRecord, FieldRecord, SignerRecord } from '../model.ts';
import { type FormProblem, isHandwritten } from './signing-form.ts';

interface SigningView {
  envelope: EnvelopeRecord;
  signer: SignerRecord;
  /** The signer's fields, in reading order. */
  fields: readonly FieldRecord[];
  /** The entered or prefilled values by field ID. */
  values: Readonly<Record<string, string>>;
  /** The drawings that replace values, in text form, by field ID. */
  drawn: Readonly<Record<string, string>>;
  consent: boolean;
  problems: readonly FormProblem[];
}

/** Returns the page on which a signer reads the document, completes the fields, and signs. */
export function signingPage(view: SigningView) {
  const { envelope, signer, fields, values, drawn, problems } = view;
  const path = `/sign/${signer.token}`;
  return html`<h1 dir="auto">${envelope.subject}</h1>
    <p class="quiet">For <span dir="auto">${signer.name}</span> (${signer.role}) · Sign by ${day(envelope.expiresAt)}</p>
    ${envelope.message === '' ? '' : html`<div class="card mailtext" dir="auto">${envelope.message}</div>`}
    ${problems.length === 0 ? '' : problemList(problems)}
    <form class="signing" method="post" action="${path}" novalidate>
      <div class="row tools">
        <a href="${path}/document.pdf">Open the PDF</a>
      </div>
      <div class="pages" data-document="${path}/document.pdf"></div>
      <section class="card" aria-labelledby="fields">
        <h2 id="fields">Your fields</h2>
        ${fields.map((field) => fieldBlock(field, values[field.fieldId] ?? '', drawn[field.fieldId] ?? ''))}
      </section>
      <div class="card">
        <div class="field check consent">
          <input type="checkbox" id="consent" name="consent" value="yes" required ${view.consent ? 'checked' : ''}>
          <label for="consent">I have read the document and agree to sign it electronically.</label>
        </div>
      </div>
      <div class="card row actions">
        <span role="status" class="quiet"></span>
        <button type="button" class="main" data-next hidden>Next field</button>
        <button class="main" data-sign>Sign</button>
        <button type="button" class="danger" data-opens="decline">Decline…</button>
      </div>
    </form>
    ${padDialog()}
    <dialog id="decline" aria-labelledby="decline-title">
      <form method="post" action="${path}/decline">
        <h2 id="decline-title">Decline to sign</h2>
        <div class="field">
          <label for="reason">Reason (shared with the sender)</label>
          <textarea class="entry" id="reason" name="reason" rows="3" maxlength="1000"></textarea>
        </div>
        <div class="row">
          <button class="main danger">Decline</button> <button type="button" data-closes="decline">Back</button>
        </div>
      </form>
    </dialog>`;
}

/** Returns the pad for drawing signatures. The script adds a button to each field that opens it. */
function padDialog() {
  return html`<dialog id="pad" aria-labelledby="pad-title">
    <form method="dialog">
      <h2 id="pad-title">Draw</h2>
      <svg class="pad" viewBox="0 0 1000 400" role="img" aria-label="Drawing area"><path/></svg>
      <p class="quiet">Use a finger, a pen, or the mouse. To type instead, cancel.</p>
      <div class="row">
        <button value="use" class="main">Use it</button>
        <button type="button" data-pad="undo">Undo</button>
        <button type="button" data-pad="clear">Clear</button>
        <button value="">Cancel</button>
      </div>
    </form>
  </dialog>`;
}

function problemList(problems: readonly FormProblem[]) {
  return html`<div class="card problems" role="alert">
    <h2>Complete these fields before signing</h2>
    <ul>
      ${problems.map(({ control, text }) => html`<li><a href="#${control}">${text}</a></li>`)}
    </ul>
  </div>`;
}

function fieldBlock(field: FieldRecord, value: string, drawing: string) {
  const kind = field.type === 'CHECKBOX' ? 'field check' : 'field';
  const label = html`<label for="${field.fieldId}">${field.label}${field.required ? '' : ' (optional)'}</label>`;
  const control = controlOf(field, value);
  const drawn = isHandwritten(field)
    ? html`<input type="hidden" name="d.${field.fieldId}" value="${drawing}">`
    : '';
  return html`<div class="${kind}" data-page="${field.page}" data-x="${field.x}" data-y="${field.y}" data-width="${field.width}" data-height="${field.height}">
    ${field.type === 'CHECKBOX' ? html`${control}${label}` : html`${label}${control}${drawn}`} <span class="hint">Page ${field.page}</span>
  </div>`;
}

/** The placeholders, in upright letters so that they can't be mistaken for a signature. */
const HINTS: Partial<Record<FieldRecord['type'], string>> = {
  SIGNATURE: 'Type your name to sign',
  INITIALS: 'Initials',
};

/** The height in points above which a text field has several lines. */
const MIN_MULTILINE_HEIGHT = 30;

function controlOf(field: FieldRecord, value: string) {
  const name = `f.${field.fieldId}`;
  const required = field.required ? 'required' : '';
  if (field.type === 'CHECKBOX') {
    return html`<input type="checkbox" id="${field.fieldId}" name="${name}" value="true" ${required} ${value === 'true' ? 'checked' : ''}>`;
  }
  if (field.type === 'DROPDOWN') {
    const options = field.options ?? [];
    return html`<select class="entry" id="${field.fieldId}" name="${name}" ${required}>
      <option value=""></option>
      ${options.map((option) => html`<option value="${verbatim(option)}" ${option === value ? 'selected' : ''}>${option}</option>`)}
    </select>`;
  }
  if (field.type === 'TEXT' && field.height > MIN_MULTILINE_HEIGHT) {
    return html`<textarea class="entry" id="${field.fieldId}" name="${name}" rows="3" maxlength="500" autocomplete="off" ${required}>
${verbatim(value)}</textarea>`;
  }
  const type = field.type === 'DATE' ? 'date' : 'text';
  const hint = HINTS[field.type] ?? '';
  return html`<input type="${type}" id="${field.fieldId}" name="${name}" value="${verbatim(value)}" class="entry ${isHandwritten(field) && 'hand'}" placeholder="${hint}" maxlength="500" autocomplete="off" ${required}>`;
}

/** Returns the page shown if there is nothing to sign: the status, and the documents of a completed envelope. */
export function statusPage(envelope: EnvelopeRecord, signer: SignerRecord) {
  const path = `/sign/${signer.token}`;
  const documents =
    envelope.status === 'COMPLETED'
      ? html`<p class="row"><a class="button main" href="${path}/signed.pdf">Signed document</a> <a class="button" href="${path}/certificate.pdf">Certificate</a></p>`
      : '';
  return html`<h1 dir="auto">${envelope.subject}</h1>
    <p>${sentence(envelope, signer)}</p>
    ${documents}
    <ul class="signers">
      ${envelope.signers.map((one) => html`<li><span dir="auto">${one.name}</span> ${statusChip(one.status)}</li>`)}
    </ul>`;
}

function sentence(envelope: EnvelopeRecord, signer: SignerRecord): string {
  const endings: Partial<Record<EnvelopeRecord['status'], string>> = {
    COMPLETED: 'Everyone has signed. The documents are ready.',
    CANCELLED: 'The sender canceled this request. There is nothing to sign.',
    EXPIRED: 'This request has expired.',
    DECLINED: sentenceOf(`This request was declined${reasonOf(envelope)}`),
  };
  const ending = endings[envelope.status];
  if (ending !== undefined) return ending;
  if (signer.status === 'SIGNED')
    return `Thank you, ${signer.name}. You have signed. Other signers are still pending.`;
  return `It is not your turn yet, ${signer.name}. You will get an email when it is.`;
}

/** Adds a period unless the signer's text already ends with punctuation. */
function sentenceOf(text: string): string {
  return /\p{Sentence_Terminal}$/u.test(text) ? text : `${text}.`;
}

function reasonOf(envelope: EnvelopeRecord): string {
  const by = envelope.signers.find((one) => one.status === 'DECLINED');
  if (by === undefined) return '';
  return ` by ${by.name}${by.declineReason ? `: ${by.declineReason}` : ''}`;
}
