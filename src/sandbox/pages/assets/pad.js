// Lets people draw with the mouse, a finger, or a pen. A drawing is text: points `x,y` separated by spaces, and strokes by semicolons.
const RANGE = 1000;
const MOST = { strokes: 120, points: 3000 };
/** Points closer together than this make no visible difference. */
const STEP = 5;

function readStrokes(text) {
  if (text === '') return [];
  return text.split(';').map((stroke) => stroke.split(' ').map((point) => point.split(',').map(Number)));
}

function writeStrokes(strokes) {
  return strokes.map((stroke) => stroke.map((point) => point.join(',')).join(' ')).join(';');
}

/** Returns the path of a stroke as the documents draw it. */
function pathOf(stroke) {
  return `M ${stroke[0]} L ${stroke.join(' ')}`;
}

function show(svg, strokes) {
  svg.querySelector('path').setAttribute('d', strokes.map(pathOf).join(' '));
}

/** Shows a drawing as large as possible, aligned left and centered vertically. A dot stays a dot. */
export function preview(svg, drawing) {
  const strokes = readStrokes(drawing);
  const [xs, ys] = [0, 1].map((axis) => strokes.flat().map((point) => point[axis]));
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(RANGE / 2, Math.max(...xs) - left), Math.max(...ys) - top];
  const margin = 10;
  const box = [left - margin, top - margin, width + 2 * margin, height + 2 * margin];
  svg.setAttribute('viewBox', box.join(' '));
  svg.setAttribute('preserveAspectRatio', 'xMinYMid');
  show(svg, strokes);
}

/** Creates the pad in a dialog. `draw` resolves to a drawing, or to undefined if nothing should change. */
export function padIn(dialog) {
  const pad = dialog.querySelector('.pad');
  const use = dialog.querySelector('[value="use"]');
  let strokes = [];
  let current;

  const count = () => strokes.reduce((sum, stroke) => sum + stroke.length, 0);
  const change = (next) => {
    strokes = next;
    use.disabled = strokes.length === 0;
    show(pad, strokes);
  };
  const add = (event) => {
    const box = pad.getBoundingClientRect();
    const unit = (pixels) => Math.min(RANGE, Math.max(0, Math.round((pixels / box.width) * RANGE)));
    const point = [unit(event.clientX - box.left), unit(Math.min(box.height, event.clientY - box.top))];
    const last = current.at(-1);
    const isNear = last && Math.hypot(point[0] - last[0], point[1] - last[1]) < STEP;
    if (!isNear && count() < MOST.points) current.push(point);
  };

  pad.addEventListener('pointerdown', (event) => {
    const isFull = strokes.length >= MOST.strokes || count() >= MOST.points;
    if (!event.isPrimary || event.button !== 0 || isFull) return;
    pad.setPointerCapture(event.pointerId);
    current = [];
    add(event);
    change([...strokes, current]);
  });
  pad.addEventListener('pointermove', (event) => {
    if (!current || !event.isPrimary) return;
    const between = event.getCoalescedEvents?.() ?? [];
    for (const part of between.length > 0 ? between : [event]) add(part);
    change(strokes);
  });
  for (const end of ['pointerup', 'pointercancel'])
    pad.addEventListener(end, () => {
      current = undefined;
    });
  dialog.querySelector('[data-pad="undo"]').addEventListener('click', () => change(strokes.slice(0, -1)));
  dialog.querySelector('[data-pad="clear"]').addEventListener('click', () => change([]));

  return {
    draw(title, drawing) {
      dialog.querySelector('h2').textContent = title;
      dialog.returnValue = '';
      change(readStrokes(drawing));
      dialog.showModal();
      return new Promise((resolve) => {
        const close = () => resolve(dialog.returnValue === 'use' ? writeStrokes(strokes) : undefined);
        dialog.addEventListener('close', close, { once: true });
      });
    },
  };
}
