import { html } from 'hono/html';
import { command } from '../../../kernel/text/shell-words.ts';
import { FIELD_TYPES, type FieldType, type TemplateRecord } from '../../model.ts';
import { copyable } from '../layout.ts';
import { type FormRow, newRow, SIZES, type TemplateForm } from './form.ts';

const TYPE_WORDS: Readonly<Record<FieldType, string>> = {
  SIGNATURE: 'Signature',
  INITIALS: 'Initials',
  DATE: 'Date',
  TEXT: 'Text',
  CHECKBOX: 'Checkbox',
  DROPDOWN: 'Dropdown',
};

export interface EditorView {
  template: TemplateRecord;
  form: TemplateForm;
  /** True if the template has envelopes, so that it can't be changed. */
  isUsed: boolean;
  isSaved: boolean;
  problems: readonly string[];
  token: string;
}

/** Returns the page for placing fields on an uploaded PDF, by dragging or by numbers. */
export function editorPage(view: EditorView) {
  const { template, form, isUsed, problems, token } = view;
  const path = `/templates/${template.id}`;
  return html`<h1 dir="auto">${template.name}</h1>
    <p class="quiet"><code>${template.id}</code></p>
    ${notice(view)}
    <form class="editor" method="post" action="${path}" data-locked="${String(isUsed)}" novalidate>
      <input type="hidden" name="form" value="${token}" />
      <div class="pages" data-document="${path}/document.pdf"></div>
      <div class="panel">
        <button name="do" value="save" class="hidden" tabindex="-1" aria-hidden="true">Save</button>
        <fieldset ${isUsed ? 'disabled' : ''}>
          <details class="card" ${problems.length === 0 ? '' : 'open'}>
            <summary>Name and roles</summary>
            ${words(form)}
          </details>
          ${toolbox()}
          <section class="card" aria-labelledby="fields">
            <h2 id="fields">Fields</h2>
            <p class="quiet">Positions are in points from the top left corner of the page. ${sizes(template)}</p>
            <div class="rows">${form.rows.map((row, index) => fieldRow(row, String(index), form.roles))}</div>
            <button name="do" value="add" class="small">Add a field</button>
          </section>
          <div class="actions"><button name="do" value="save" class="main">Save</button> <span role="status" class="quiet"></span></div>
        </fieldset>
      </div>
    </form>
    <template id="row">${fieldRow(newRow(''), 'N', form.roles)}</template>
    ${endings(view)}`;
}

function notice({ template, isUsed, isSaved, problems }: EditorView) {
  if (problems.length > 0) {
    return html`<div class="card problems" role="alert">
      <h2>Not saved yet</h2>
      <ul>
        ${problems.map((problem) => html`<li>${problem}</li>`)}
      </ul>
    </div>`;
  }
  if (isUsed)
    return html`<p class="card">This template has envelopes, so it can't be changed. Make a copy to edit it.</p>`;
  if (isSaved)
    return html`<div class="card" role="status">
      <p>Saved. Create an envelope from it:</p>
      ${copyable(command('envelopes', 'create', '--template', template.id, ...signersFor(template), '--send'))}
    </div>`;
  return '';
}

/** Returns example signers for the roles. Signers without a role are assigned the roles in order. */
function signersFor({ roles }: TemplateRecord): string[] {
  return roles.flatMap((_, index) => ['--signer', `signer${index + 1}@example.com`]);
}

function words({ name, description, roles }: TemplateForm) {
  return html`<div class="field">
      <label for="name">Name</label> <input id="name" name="name" value="${name}" maxlength="200" required />
    </div>
    <div class="field">
      <label for="description">Description (optional)</label>
      <input id="description" name="description" value="${description}" maxlength="1000" />
    </div>
    <div class="field">
      <label for="roles">Roles (comma-separated, in signing order)</label>
      <input id="roles" name="roles" value="${roles}" maxlength="5000" required />
    </div>`;
}

/** Returns the buttons, shown by the script, for the type of field that a drag or a click adds. */
function toolbox() {
  return html`<div class="card toolbox" hidden>
    <h2>Place a field</h2>
    <p class="quiet">Drag or tap on a page. Move and resize fields with the mouse or the arrow keys.</p>
    <div class="pair">
      <div class="field"><label for="tool">Type</label> <select id="tool">${types('SIGNATURE')}</select></div>
      <div class="field"><label for="for">For</label> <select id="for"></select></div>
    </div>
  </div>`;
}

function types(chosen: string) {
  return FIELD_TYPES.map((type) => {
    const [width, height] = SIZES[type].usual;
    return html`<option value="${type}" data-width="${width}" data-height="${height}" ${type === chosen ? 'selected' : ''}>${TYPE_WORDS[type]}</option>`;
  });
}

/** Returns the inputs of one field. Their names start with the row's number. */
function fieldRow(row: FormRow, number: string, roles: string) {
  const at = (name: string) => `${number}.${name}`;
  const choices = [...new Set([...roles.split(',').map((role) => role.trim()), row.role])].filter(Boolean);
  const place = (name: 'page' | 'x' | 'y' | 'width' | 'height', label: string) =>
    html`<div class="field">
      <label for="${at(name)}">${label}</label>
      <input type="number" id="${at(name)}" name="${at(name)}" value="${row[name]}" min="0" step="any" inputmode="decimal" required />
    </div>`;
  return html`<details class="row-field" data-number="${number}">
    <summary>${row.label || 'New field'}, page ${row.page}</summary>
    <input type="hidden" name="${at('id')}" value="${row.id}" />
    <div class="field">
      <label for="${at('label')}">Label</label>
      <input id="${at('label')}" name="${at('label')}" value="${row.label}" maxlength="200" autocomplete="off" required />
    </div>
    <div class="pair">
      <div class="field"><label for="${at('type')}">Type</label> <select id="${at('type')}" name="${at('type')}">${types(row.type)}</select></div>
      <div class="field">
        <label for="${at('role')}">Role</label>
        <select id="${at('role')}" name="${at('role')}">
          ${choices.map((role) => html`<option value="${role}" ${role === row.role ? 'selected' : ''}>${role}</option>`)}
        </select>
      </div>
    </div>
    <div class="fifths">
      ${place('page', 'Page')} ${place('x', 'x')} ${place('y', 'y')} ${place('width', 'Width')} ${place('height', 'Height')}
    </div>
    <div class="field choices">
      <label for="${at('options')}">Choices (one per line)</label>
      <textarea id="${at('options')}" name="${at('options')}" rows="3">
${row.options}</textarea>
    </div>
    <div class="field check">
      <input type="checkbox" id="${at('required')}" name="${at('required')}" value="yes" ${row.required ? 'checked' : ''} />
      <label for="${at('required')}">Required</label>
    </div>
    <button name="do" value="remove-${number}" class="small">Remove</button>
  </details>`;
}

function sizes({ upload }: TemplateRecord): string {
  const pages = upload?.pages ?? [];
  const [first] = pages;
  if (first === undefined) return '';
  const isUniform = pages.every(({ width, height }) => width === first.width && height === first.height);
  const words = ({ width, height }: { width: number; height: number }) => `${width} × ${height}`;
  if (isUniform) return `${pages.length === 1 ? 'The page is' : 'Each page is'} ${words(first)}.`;
  return `Page sizes: ${pages.map((page, index) => `${words(page)} (page ${index + 1})`).join(', ')}.`;
}

function endings({ template, token }: EditorView) {
  if (template.fields.length === 0) return '';
  const path = `/templates/${template.id}`;
  const hidden = html`<input type="hidden" name="form" value="${token}" />`;
  const retire = template.active
    ? html`<button class="small" name="active" value="no">Deactivate</button>`
    : html`<button class="small" name="active" value="yes">Activate</button>`;
  return html`<div class="row ending">
    <form method="post" action="${path}/copy">${hidden}<button class="small">Make a copy</button></form>
    <form method="post" action="${path}/active">${hidden}${retire}</form>
  </div>`;
}
