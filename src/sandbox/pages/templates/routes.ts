import type { Hono } from 'hono';
import { html } from 'hono/html';
import { type TemplateRecord, UPLOAD } from '../../model.ts';
import { invalidBody } from '../../service/base/errors.ts';
import type { ServiceContext, ServiceEnv } from '../../service/base/web.ts';
import { fileTooLarge, type PagesOptions, refusedFile, requireForm, textIn, UPLOAD_PATH } from '../guard.ts';
import { chip, page, table } from '../layout.ts';
import { editorPage } from './editor.ts';
import { formOf, newRow, readFields, readForm, readWords, type TemplateForm } from './form.ts';

/** Mounts the pages for templates from uploaded PDFs. `token` is the token that posts must contain. */
export function templatePages(app: Hono<ServiceEnv>, options: PagesOptions, token: string): void {
  const { templates } = options;
  const editor = (c: ServiceContext, id: string, form?: TemplateForm, problems: string[] = []) => {
    const template = templates.find(id);
    const isSaved = c.req.query('saved') !== undefined;
    const facts = { isUsed: templates.isUsed(id), isSaved, problems, token };
    return page(c, {
      title: template.name,
      body: editorPage({ template, form: form ?? formOf(template), ...facts }),
      script: 'edit.js',
      styles: ['document.css', 'editor.css'],
      status: problems.length > 0 ? 400 : 200,
    });
  };

  app.get(UPLOAD_PATH, (c) => {
    const { state } = options.store;
    return page(c, { title: 'Templates', body: templateList(state.templatesOf(state.orgId), token) });
  });
  app.post(UPLOAD_PATH, async (c) => {
    const { pdf, name, roles } = await requireForm(c, token);
    const { file, title } = await fileIn(pdf);
    const given = { name: textIn(name).trim() || title, description: '', roles: textIn(roles) };
    const { words, problems } = readWords(given);
    if (problems.length > 0) throw invalidBody({ form: problems }, 'The template was not created');
    const template = await templates.upload(words, file);
    return c.redirect(`/templates/${template.id}`, 303);
  });
  app.get('/templates/:id', (c) => editor(c, c.req.param('id')));
  app.post('/templates/:id', async (c) => {
    const id = c.req.param('id');
    const body = await requireForm(c, token);
    const action = typeof body.do === 'string' ? body.do : 'save';
    const removed = /^remove-(\d+)$/.exec(action)?.[1];
    const form = readForm(body, removed);
    const { words, problems } = readWords(form);
    if (removed !== undefined) return editor(c, id, form);
    if (action === 'add')
      return editor(c, id, { ...form, rows: [...form.rows, newRow(words.roles[0] ?? '')] });
    const { fields, problems: wrong } = readFields(form.rows, templates.find(id), words.roles);
    const all = [...problems, ...wrong];
    if (all.length > 0) return editor(c, id, form, all);
    await templates.save(id, { ...words, fields });
    return c.redirect(`/templates/${id}?saved`, 303);
  });
  app.get('/templates/:id/document.pdf', async (c) => {
    const pdf = await templates.pdfOf(c.req.param('id'));
    return c.body(new Uint8Array(pdf), 200, {
      'Content-Type': 'application/pdf',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    });
  });
  app.post('/templates/:id/active', async (c) => {
    const { active } = await requireForm(c, token);
    await templates.setActive(c.req.param('id'), active === 'yes');
    return c.redirect('/templates', 303);
  });
  app.post('/templates/:id/copy', async (c) => {
    await requireForm(c, token);
    const { id } = await templates.copy(c.req.param('id'));
    return c.redirect(`/templates/${id}`, 303);
  });
}

/** Returns the posted file, and a name for the template created from it. */
async function fileIn(posted: unknown): Promise<{ file: Uint8Array; title: string }> {
  if (!(posted instanceof File) || posted.size === 0) throw refusedFile('Choose a PDF to upload.');
  if (posted.size > UPLOAD.bytes) throw fileTooLarge();
  const title = posted.name
    .replace(/\.pdf$/i, '')
    .trim()
    .slice(0, 200);
  return { file: new Uint8Array(await posted.arrayBuffer()), title: title || 'Uploaded document' };
}

/** Returns the list of templates and a form to create one. `form` is the token that posts must contain. */
function templateList(templates: readonly TemplateRecord[], form: string) {
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
