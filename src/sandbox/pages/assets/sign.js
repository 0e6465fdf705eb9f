// Draws the document's pages and, where there is room, moves the fields onto them. Without it the page is a plain form.

import { padIn, preview, readStrokes } from './pad.js';
import { drawPages } from './sheets.js';

const ROOM_FOR_OVERLAY = 700;

const form = document.querySelector('form.signing');
const pages = document.querySelector('.pages');
const progress = document.querySelector('[role="status"]');

/** Where there is room, fields stand on their page; elsewhere they follow in a list. */
async function drawDocument() {
  const isRoomy = pages.clientWidth >= ROOM_FOR_OVERLAY;
  await drawPages(pages, (sheet, number, { width }) => {
    if (isRoomy) placeFields(sheet, number, width);
  });
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

function countFields() {
  const required = [...form.querySelectorAll('.field [required]')];
  const done = required.filter((control) => {
    if (control.type === 'checkbox') return control.checked;
    return control.value.trim() !== '' || drawingOf(control.closest('.field'))?.value;
  });
  progress.textContent = `${done.length} of ${required.length} required fields are filled in`;
}

if (form) {
  form.addEventListener('input', countFields);
  countFields();
  const pad = padIn(document.querySelector('#pad'));
  for (const hand of form.querySelectorAll('.hand')) makeDrawable(hand.closest('.field'), pad);
}
const dialog = document.querySelector('#decline');
document.querySelector('[data-opens="decline"]')?.addEventListener('click', () => dialog.showModal());
document.querySelector('[data-closes="decline"]')?.addEventListener('click', () => dialog.close());
if (pages)
  drawDocument().catch(() => pages.append('The pages could not be drawn here; open the PDF instead.'));
