// Shows the document with its fields. Without this script, the page is a plain form.

import { padIn, preview } from './pad.js';
import { drawPages, layOver } from './sheets.js';

const form = document.querySelector('form.signing');
const pages = document.querySelector('.pages');
const progress = document.querySelector('.actions [role="status"]');
const next = document.querySelector('[data-next]');
const sign = document.querySelector('[data-sign]');
const list = document.querySelector('#fields')?.closest('section');
/** On these screens, pages are too small to fill in, so the fields stay in the list below them. */
const narrow = window.matchMedia('(max-width: 44rem)');
/** For each page: its sheet, its size in points, and its fields. */
const placed = [];

async function showDocument() {
  await drawPages(pages, (sheet, number, size) => {
    const fields = [...form.querySelectorAll(`.field[data-page="${number}"]`)];
    for (const field of fields) sheet.append(spot(field, size));
    placed.push({ sheet, size, fields });
    placeFields(placed.at(-1));
  });
}

/** Puts the fields of a page on the page, or, on a narrow screen, into the list. */
function placeFields(one) {
  if (narrow.matches) placeInList(one);
  else placeOnPage(one);
  list.hidden = !list.querySelector('.field');
}

function placeInList({ fields }) {
  for (const field of fields) {
    field.removeAttribute('style');
    controlOf(field).removeAttribute('style');
    list.append(field);
  }
}

function placeOnPage({ sheet, size, fields }) {
  for (const field of fields) {
    layOver(field, size, boxOf(field));
    controlOf(field).style.fontSize = fontSizeIn(field, size);
    sheet.append(field);
  }
}

function labelOf(field) {
  return field.querySelector('label').textContent;
}

function controlOf(field) {
  return field.querySelector('input, select, textarea');
}

function boxOf({ dataset }) {
  const [x, y, width, height] = ['x', 'y', 'width', 'height'].map((name) => Number(dataset[name]));
  return { x, y, width, height };
}

/** Returns the largest font size that fits the field. A date needs room for ten characters and the calendar button. */
function fontSizeIn(field, size) {
  const { width, height } = boxOf(field);
  const control = controlOf(field);
  const ofPage = (points) => `${(points / size.width) * 100}cqw`;
  if (control.matches('.hand')) return `min(40px, ${ofPage(height * 0.5)})`;
  const points = Math.min(height, 22) * 0.6;
  return `min(18px, ${ofPage(control.type === 'date' ? Math.min(points, width / 9) : points)})`;
}

/** Marks the position of a field on a page that is too small to fill in. */
function spot(field, size) {
  const made = button('spot', `Go to ${labelOf(field)}`);
  made.tabIndex = -1;
  layOver(made, size, boxOf(field));
  made.addEventListener('click', () => reach(controlOf(field)));
  return made;
}

function drawingOf(field) {
  return field.querySelector('input[name^="d."]');
}

/** Adds a button that opens the pad. A drawing is shown instead of the text. */
function makeDrawable(field, pad) {
  const typed = field.querySelector('.hand');
  const drawing = drawingOf(field);
  const name = labelOf(field);
  const draw = button('pen', `Draw: ${name}`, 'Draw');
  const shown = button('ink', `${name}, drawn: draw it again`);
  const type = button('pen', `Type instead: ${name}`, 'Type');
  const picture = document.querySelector('.pad').cloneNode(true);
  picture.removeAttribute('class');
  shown.append(picture);
  typed.after(draw, shown, type);
  const update = () => {
    const isDrawn = drawing.value !== '';
    typed.hidden = draw.hidden = isDrawn;
    shown.hidden = type.hidden = !isDrawn;
    if (isDrawn) preview(picture, drawing.value);
    countFields();
  };
  const ask = async () => {
    const drawn = await pad.draw(`Draw: ${name}`, drawing.value);
    if (drawn !== undefined) drawing.value = drawn;
    update();
    (shown.hidden ? draw : shown).focus();
  };
  draw.addEventListener('click', ask);
  shown.addEventListener('click', ask);
  type.addEventListener('click', () => {
    drawing.value = '';
    update();
    typed.focus();
  });
  update();
}

function button(className, title, textContent = '') {
  const made = Object.assign(document.createElement('button'), {
    type: 'button',
    className,
    title,
    textContent,
  });
  made.setAttribute('aria-label', title);
  return made;
}

function isFilled(control) {
  if (control.type === 'checkbox') return control.checked;
  return control.value.trim() !== '' || Boolean(drawingOf(control.closest('.field'))?.value);
}

function emptyFields() {
  return [...form.querySelectorAll('.field [required]')].filter((control) => !isFilled(control));
}

/** Makes "Next field" the main button until every required field is complete, and then "Sign". */
function countFields() {
  const left = emptyFields().length;
  progress.textContent = left === 0 ? 'Ready to sign' : `${left} field${left === 1 ? '' : 's'} left`;
  next.hidden = left === 0;
  sign.classList.toggle('main', left === 0);
}

let last;

/** Moves to the next empty required field. */
function goToNext() {
  const left = emptyFields();
  const isAfter = (control) => last?.compareDocumentPosition(control) & Node.DOCUMENT_POSITION_FOLLOWING;
  last = left.find(isAfter) ?? left[0];
  reach(last);
}

function reach(control) {
  if (!control) return;
  (control.closest('.field') ?? control).scrollIntoView({ block: 'center' });
  control.focus({ preventScroll: true });
}

if (form) {
  form.addEventListener('input', countFields);
  countFields();
  const pad = padIn(document.querySelector('#pad'));
  for (const hand of form.querySelectorAll('.hand')) makeDrawable(hand.closest('.field'), pad);
  next.addEventListener('click', goToNext);
  narrow.addEventListener('change', () => placed.forEach(placeFields));
  for (const link of document.querySelectorAll('.problems a'))
    link.addEventListener('click', (event) => {
      event.preventDefault();
      reach(document.getElementById(link.hash.slice(1)));
    });
  const dialog = document.querySelector('#decline');
  document.querySelector('[data-opens="decline"]').addEventListener('click', () => dialog.showModal());
  document.querySelector('[data-closes="decline"]').addEventListener('click', () => dialog.close());
  if (location.hash === '#decline') dialog.showModal();
  showDocument().catch(() => pages.append("The pages can't be shown here. Open the PDF instead."));
}
