// Draws the document's pages and moves the fields onto them. Without it the page is a plain form.

import { padIn, preview, readStrokes } from './pad.js';
import { drawPages } from './sheets.js';

const form = document.querySelector('form.signing');
const pages = document.querySelector('.pages');
const progress = document.querySelector('.actions [role="status"]');
const next = document.querySelector('[data-next]');

/** Fields stand on their page. On a narrow screen the pages keep a width at which they can be read, and are moved. */
async function drawDocument() {
  await drawPages(pages, (sheet, number, { width }) => placeFields(sheet, number, width));
  const list = document.querySelector('#fields')?.closest('section');
  if (list && !list.querySelector('.field')) list.hidden = true;
}

function placeFields(sheet, number, width) {
  const scale = sheet.clientWidth / width;
  for (const field of form.querySelectorAll(`.field[data-page="${number}"]`)) {
    const { x, y, width: fieldWidth, height } = field.dataset;
    const place = { left: x, top: y, width: fieldWidth, height };
    for (const [side, points] of Object.entries(place)) field.style[side] = `${Number(points) * scale}px`;
    const control = field.querySelector('input, select, textarea');
    control.style.fontSize = `${sizeIn(control, Number(fieldWidth) * scale, Number(height) * scale, scale)}px`;
    sheet.append(field);
    field.dispatchEvent(new Event('placed'));
  }
}

/** As large as the field allows; a date needs room for its ten figures and the button of the calendar. */
function sizeIn(control, width, height, scale) {
  if (control.matches('.hand')) return Math.min(40, height * 0.5);
  const size = Math.min(18, Math.min(height, 22 * scale) * 0.6);
  return control.type === 'date' ? Math.min(size, width / 9) : size;
}

function drawingOf(field) {
  return field.querySelector('input[name^="d."]');
}

/** A button to draw beside what is typed, and the drawing in its place once there is one. */
function makeDrawable(field, pad) {
  const typed = field.querySelector('.hand');
  const drawing = drawingOf(field);
  const name = field.querySelector('label').textContent;
  const draw = button('pen', `Draw: ${name}`, 'Draw');
  const shown = button('ink', `${name}, drawn: draw it again`);
  const type = button('pen', `Type instead: ${name}`, 'Type');
  const canvas = document.createElement('canvas');
  shown.append(canvas);
  typed.after(draw, shown, type);
  const show = () => {
    const isDrawn = drawing.value !== '';
    typed.hidden = draw.hidden = isDrawn;
    shown.hidden = type.hidden = !isDrawn;
    if (isDrawn) preview(canvas, readStrokes(drawing.value));
    countFields();
  };
  const ask = async () => {
    const drawn = await pad.draw(`Draw: ${name}`, drawing.value);
    if (drawn !== undefined) drawing.value = drawn;
    show();
    (shown.hidden ? draw : shown).focus();
  };
  draw.addEventListener('click', ask);
  shown.addEventListener('click', ask);
  type.addEventListener('click', () => {
    drawing.value = '';
    show();
    typed.focus();
  });
  field.addEventListener('placed', show);
  show();
}

function button(kind, label, text = '') {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = kind;
  made.setAttribute('aria-label', label);
  made.title = label;
  made.textContent = text;
  return made;
}

function isFilled(control) {
  if (control.type === 'checkbox') return control.checked;
  return control.value.trim() !== '' || Boolean(drawingOf(control.closest('.field'))?.value);
}

function countFields() {
  const required = [...form.querySelectorAll('.field [required]')];
  const left = required.filter((control) => !isFilled(control));
  progress.textContent = `${required.length - left.length} of ${required.length}`;
  next.hidden = left.length === 0;
}

/** The first required field that is empty, after the one that was reached last. */
function goToNext() {
  const left = [...form.querySelectorAll('.field [required]')].filter((control) => !isFilled(control));
  const at = left.indexOf(document.activeElement);
  reach(left[(at + 1) % left.length]);
}

/** Brings a control into view, also sideways, and puts the cursor into it. */
function reach(control) {
  if (!control) return;
  (control.closest('.field') ?? control).scrollIntoView({ block: 'center', inline: 'center' });
  control.focus({ preventScroll: true });
}

if (form) {
  form.addEventListener('input', countFields);
  countFields();
  const pad = padIn(document.querySelector('#pad'));
  for (const hand of form.querySelectorAll('.hand')) makeDrawable(hand.closest('.field'), pad);
  next.addEventListener('click', goToNext);
  for (const link of document.querySelectorAll('.problems a'))
    link.addEventListener('click', (event) => {
      event.preventDefault();
      reach(document.getElementById(link.hash.slice(1)));
    });
}
const dialog = document.querySelector('#decline');
document.querySelector('[data-opens="decline"]')?.addEventListener('click', () => dialog.showModal());
document.querySelector('[data-closes="decline"]')?.addEventListener('click', () => dialog.close());
if (pages)
  drawDocument().catch(() => pages.append('The pages could not be drawn here; open the PDF instead.'));
