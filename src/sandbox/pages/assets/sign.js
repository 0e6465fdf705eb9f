// Draws the document's pages and, where there is room, moves the fields onto them. Without it the page is a plain form.
import * as pdf from '/assets/pdf.min.mjs';

pdf.GlobalWorkerOptions.workerSrc = '/assets/pdf.worker.min.mjs';
const ROOM_FOR_OVERLAY = 700;

const form = document.querySelector('form.signing');
const pages = document.querySelector('.pages');
const progress = document.querySelector('[role="status"]');

async function drawPages() {
  const file = await pdf.getDocument({ url: pages.dataset.document, isEvalSupported: false }).promise;
  const overlay = pages.clientWidth >= ROOM_FOR_OVERLAY;
  for (let number = 1; number <= file.numPages; number++) {
    const page = await file.getPage(number);
    const { width } = page.getViewport({ scale: 1 });
    const sheet = document.createElement('div');
    sheet.className = 'page';
    sheet.setAttribute('aria-label', `Page ${number} of ${file.numPages}`);
    pages.append(sheet);
    await drawSheet(page, sheet, width);
    if (overlay) placeFields(sheet, number, width);
  }
  const list = document.querySelector('#fields')?.closest('section');
  if (list && !list.querySelector('.field')) list.hidden = true;
  pages.dataset.ready = 'true';
}

async function drawSheet(page, sheet, width) {
  const viewport = page.getViewport({ scale: (sheet.clientWidth / width) * window.devicePixelRatio });
  const canvas = document.createElement('canvas');
  canvas.width = viewport.width;
  canvas.height = viewport.height;
  sheet.append(canvas);
  await page.render({ canvas, viewport }).promise;
}

function placeFields(sheet, number, width) {
  const scale = sheet.clientWidth / width;
  for (const field of form.querySelectorAll(`.field[data-page="${number}"]`)) {
    const { x, y, width: fieldWidth, height } = field.dataset;
    const place = { left: x, top: y, width: fieldWidth, height };
    for (const [side, points] of Object.entries(place)) field.style[side] = `${Number(points) * scale}px`;
    const control = field.querySelector('input, select, textarea');
    const size = control.matches('.hand')
      ? Math.min(40, Number(height) * scale * 0.5)
      : Math.min(18, Math.min(Number(height), 22) * scale * 0.6);
    control.style.fontSize = `${size}px`;
    sheet.append(field);
  }
}

function countFields() {
  const required = [...form.querySelectorAll('.field [required]')];
  const done = required.filter((control) =>
    control.type === 'checkbox' ? control.checked : control.value.trim() !== '',
  );
  progress.textContent = `${done.length} of ${required.length} required fields are filled in`;
}

if (form) {
  form.addEventListener('input', countFields);
  countFields();
}
const dialog = document.querySelector('dialog');
document.querySelector('[data-opens="decline"]')?.addEventListener('click', () => dialog.showModal());
document.querySelector('[data-closes="decline"]')?.addEventListener('click', () => dialog.close());
if (pages) drawPages().catch(() => pages.append('The pages could not be drawn here; open the PDF instead.'));
