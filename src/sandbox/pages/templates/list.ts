import { html } from 'hono/html';
import { type TemplateRecord, UPLOAD } from '../../model.ts';
import { chip, table } from '../layout.ts';

/** Returns the list of templates and a form to create one. `form` is the token that posts must contain. */
export function templateList(templates: readonly TemplateRecord[], form: string) {
  return html`<h1>Templates</h1>
    ${uploadForm(form)} ${table(['Name', 'ID', 'Pages', 'Roles', 'Status'], templates.map(row), 'No templates.')}`;
}

function row({ id, name, pageCount, roles, fields, active, upload }: TemplateRecord): unknown[] {
  const link = upload === undefined ? name : html`<a href="/templates/${id}" dir="auto">${name}</a>`;
  const status = active ? chip('active', 'good') : chip(fields.length === 0 ? 'no fields' : 'inactive');
  return [link, html`<code>${id}</code>`, pageCount, roles.join(', '), status];
}

function uploadForm(form: string) {
  return html`<details class="card">
    <summary>Upload a PDF</summary>
    <form method="post" action="/templates" enctype="multipart/form-data">
      <input type="hidden" name="form" value="${form}" />
      <div class="field">
        <label for="pdf">PDF (up to ${UPLOAD.bytes / 1_000_000} MB and ${UPLOAD.pages} pages)</label>
        <input type="file" id="pdf" name="pdf" accept="application/pdf,.pdf" required />
      </div>
      <div class="field">
        <label for="template-name">Name (defaults to the file name)</label>
        <input id="template-name" name="name" maxlength="200" autocomplete="off" />
      </div>
      <div class="field">
        <label for="roles">Roles (comma-separated)</label>
        <input id="roles" name="roles" value="Signer" maxlength="1000" autocomplete="off" required />
      </div>
      <button class="main">Upload</button>
    </form>
  </details>`;
}
