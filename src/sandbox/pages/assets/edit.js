// Places fields on the pages of a template. The form stores their positions; the boxes on the pages show them.
import { drawPages, layOver } from './sheets.js';

const form = document.querySelector('form.editor');
const isLocked = form.dataset.locked === 'true';
const rows = form.querySelector('.rows');
const tool = form.querySelector('#tool');
const forRole = form.querySelector('#for');
const roleNames = form.querySelector('[name="roles"]');
const statusLine = form.querySelector('.panel [role="status"]');
/** A shorter drag, in CSS pixels, counts as a click. */
const CLICK = 6;
const LEAST = 8;
const ROLE_COLORS = ['#1f5fa8', '#1c6e49', '#9a4a12', '#6b3fa0', '#a02c5b'];

/** The element and the size in points of each page, by page number. */
const sheets = new Map();
/** The box of each row. */
const boxes = new Map();
let next = rows.children.length;
let isChanged = false;

const control = (row, name) => row.querySelector(`[name$=".${name}"]`);
const read = (row) => {
  const [page, x, y, width, height] = ['page', 'x', 'y', 'width', 'height'].map((name) =>
    Number.parseFloat(control(row, name).value),
  );
  return { page, x, y, width, height };
};
const whole = (value, least, most) => Math.round(Math.min(Math.max(value, least), Math.max(least, most)));

/** Limits a position to its page, and writes it to the form. */
function write(row, { page, x, y, width, height }) {
  const size = sheets.get(page).size;
  const across = whole(width, LEAST, Math.floor(size.width));
  const down = whole(height, LEAST, Math.floor(size.height));
  const place = {
    page,
    x: whole(x, 0, Math.floor(size.width - across)),
    y: whole(y, 0, Math.floor(size.height - down)),
    width: across,
    height: down,
  };
  for (const [name, value] of Object.entries(place)) control(row, name).value = String(value);
  isChanged = true;
  show(row);
}

/** Updates the position and the label of a row's box. */
function show(row) {
  const { page, x, y, width, height } = read(row);
  const label = control(row, 'label').value || 'New field';
  const type = control(row, 'type');
  const role = control(row, 'role').value;
  row.querySelector('summary').textContent = `${label}, page ${page || '?'}`;
  row.querySelector('.choices').hidden = type.value !== 'DROPDOWN';
  const box = boxes.get(row);
  const sheet = sheets.get(page);
  box.hidden = !sheet || [x, y, width, height].some(Number.isNaN);
  if (box.hidden) return;
  if (box.parentElement !== sheet.element) sheet.element.append(box);
  layOver(box, sheet.size, { x, y, width, height });
  const number = Math.max(0, namesOfRoles().indexOf(role));
  box.style.setProperty('--role', ROLE_COLORS[number % ROLE_COLORS.length]);
  box.querySelector('span').textContent = label;
  const kind = type.selectedOptions[0]?.textContent ?? '';
  box.setAttribute(
    'aria-label',
    `${label}, ${kind} for ${role}, page ${page}. Arrow keys move, with Shift they resize, Delete removes.`,
  );
}

function namesOfRoles() {
  return roleNames.value
    .split(',')
    .map((role) => role.trim())
    .filter((role) => role !== '');
}

function showRoles() {
  for (const select of [forRole, ...rows.querySelectorAll('[name$=".role"]')]) {
    const chosen = select.value;
    select.replaceChildren(...namesOfRoles().map((role) => new Option(role)));
    if (namesOfRoles().includes(chosen)) select.value = chosen;
  }
  for (const row of boxes.keys()) show(row);
}

function count() {
  statusLine.textContent = rows.children.length === 1 ? '1 field' : `${rows.children.length} fields`;
}

function select(row) {
  for (const [other, box] of boxes) {
    box.classList.toggle('selected', other === row);
    other.open = other === row;
  }
}

function remove(row) {
  boxes.get(row).remove();
  boxes.delete(row);
  row.remove();
  isChanged = true;
  count();
}

/** Adds a field of the chosen type and role. */
function add(place) {
  const number = String(next++);
  const row = document.querySelector('#row').content.firstElementChild.cloneNode(true);
  row.dataset.number = number;
  for (const part of row.querySelectorAll('[name], [id], [for]'))
    for (const name of ['name', 'id', 'for']) {
      const value = part.getAttribute(name);
      if (value?.startsWith('N.')) part.setAttribute(name, `${number}${value.slice(1)}`);
    }
  rows.append(row);
  control(row, 'type').value = tool.value;
  control(row, 'role').replaceChildren(...namesOfRoles().map((role) => new Option(role)));
  control(row, 'role').value = forRole.value;
  control(row, 'label').value = tool.selectedOptions[0].textContent;
  adopt(row);
  write(row, place);
  select(row);
  count();
  return row;
}

function usualSize(select) {
  const { width, height } = select.selectedOptions[0]?.dataset ?? {};
  return { width: Number(width), height: Number(height) };
}

/** Creates the box of a row and adds the event listeners of both. */
function adopt(row) {
  const box = Object.assign(document.createElement('button'), { type: 'button', className: 'box' });
  box.append(document.createElement('span'));
  boxes.set(row, box);
  let before = usualSize(control(row, 'type'));
  row.addEventListener('input', () => {
    isChanged = true;
    show(row);
  });
  control(row, 'type').addEventListener('change', (event) => {
    const { width, height } = read(row);
    const after = usualSize(event.target);
    if (width === before.width && height === before.height) write(row, { ...read(row), ...after });
    before = after;
  });
  row.querySelector('[value^="remove-"]').addEventListener('click', (event) => {
    event.preventDefault();
    remove(row);
  });
  if (isLocked) {
    box.disabled = true;
    return;
  }
  const handle = document.createElement('i');
  box.append(handle);
  box.addEventListener('focus', () => select(row));
  box.addEventListener('keydown', (event) => onKey(event, row));
  box.addEventListener('pointerdown', (event) => drag(event, row, event.target === handle));
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function onKey(event, row) {
  if (event.key === 'Delete' || event.key === 'Backspace') remove(row);
  else if (event.key === 'Enter') control(row, 'label').focus();
  else if (ARROWS[event.key]) change(row, read(row), ...ARROWS[event.key], event.shiftKey);
  else return;
  event.preventDefault();
}

/** Moves or resizes a box, from where it was at the start. Distances are in points. */
function change(row, start, across, down, isResizing) {
  if (isResizing) write(row, { ...start, width: start.width + across, height: start.height + down });
  else write(row, { ...start, x: start.x + across, y: start.y + down });
}

/** Calls `move` with each event until the pointer is released, and then `end` with the last one. */
function follow(element, pointerId, move, end) {
  element.setPointerCapture(pointerId);
  element.addEventListener('pointermove', move);
  const stop = (event) => {
    element.removeEventListener('pointermove', move);
    end?.(event);
  };
  for (const type of ['pointerup', 'pointercancel']) element.addEventListener(type, stop, { once: true });
}

function drag(event, row, isResizing) {
  if (event.button !== 0) return;
  event.stopPropagation();
  const start = read(row);
  const { element, size } = sheets.get(start.page);
  const unit = size.width / element.clientWidth;
  follow(boxes.get(row), event.pointerId, ({ clientX, clientY }) =>
    change(row, start, (clientX - event.clientX) * unit, (clientY - event.clientY) * unit, isResizing),
  );
}

/** Adds fields on an empty area: a drag sets the size, and a click or tap uses the default size. */
function drawOn(element, page, size) {
  let pointer = '';
  const at = ({ clientX, clientY }) => {
    const box = element.getBoundingClientRect();
    const unit = size.width / box.width;
    return { x: (clientX - box.left) * unit, y: (clientY - box.top) * unit };
  };
  const put = (event) => {
    const { width, height } = usualSize(tool);
    const { x, y } = at(event);
    add({ page, x: x - width / 2, y: y - height / 2, width, height });
  };
  const isBare = (event) => !event.target.closest('.box');
  element.addEventListener('click', (event) => {
    if (pointer === 'touch' && isBare(event)) put(event);
  });
  element.addEventListener('pointerdown', (event) => {
    pointer = event.pointerType;
    if (pointer === 'touch' || event.button !== 0 || !isBare(event)) return;
    event.preventDefault();
    const ghost = document.createElement('div');
    ghost.className = 'ghost';
    element.append(ghost);
    const from = at(event);
    const placeTo = (to) => ({
      x: Math.min(from.x, to.x),
      y: Math.min(from.y, to.y),
      width: Math.abs(to.x - from.x),
      height: Math.abs(to.y - from.y),
    });
    const move = (moved) => layOver(ghost, size, placeTo(at(moved)));
    const end = (ended) => {
      ghost.remove();
      if (ended.type === 'pointercancel') return;
      const far = Math.hypot(ended.clientX - event.clientX, ended.clientY - event.clientY);
      if (far < CLICK) put(ended);
      else add({ page, ...placeTo(at(ended)) });
    };
    follow(element, event.pointerId, move, end);
  });
}

for (const row of rows.children) adopt(row);
showRoles();
count();
roleNames.addEventListener('change', showRoles);
form.querySelector('.toolbox').hidden = isLocked;
form.querySelector('[value="add"]').addEventListener('click', (event) => {
  if (sheets.size === 0) return;
  event.preventDefault();
  control(add({ page: 1, x: 64, y: 64, ...usualSize(tool) }), 'label').focus();
});
form.addEventListener('submit', () => {
  isChanged = false;
});
window.addEventListener('beforeunload', (event) => {
  if (isChanged) event.preventDefault();
});
const pages = form.querySelector('.pages');
drawPages(pages, (element, number, size) => {
  sheets.set(number, { element, size });
  if (!isLocked) drawOn(element, number, size);
  for (const row of boxes.keys()) show(row);
}).catch(() => pages.append('The pages could not be shown. Enter the field positions as numbers.'));
