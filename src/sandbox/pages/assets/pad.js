// Lets people draw with the mouse, a finger, or a pen. A drawing is text: points `x,y` separated by spaces, and strokes by semicolons.
const RANGE = 1000;
const MOST = { strokes: 120, points: 3000 };
/** Points closer together than this make no visible difference. */
const STEP = 5;
const PEN = 6;
const INK = '#14296b';

export function readStrokes(text) {
  if (text === '') return [];
  return text.split(';').map((stroke) => stroke.split(' ').map((point) => point.split(',').map(Number)));
}

function writeStrokes(strokes) {
  return strokes.map((stroke) => stroke.map((point) => point.join(',')).join(' ')).join(';');
}

/** Sets a canvas to the screen's resolution. Returns its context, and its size in CSS pixels. */
function sharp(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.round(width * window.devicePixelRatio);
  canvas.height = Math.round(height * window.devicePixelRatio);
  const pen = canvas.getContext('2d');
  pen.scale(window.devicePixelRatio, window.devicePixelRatio);
  pen.lineCap = 'round';
  pen.lineJoin = 'round';
  pen.strokeStyle = INK;
  return { pen, width, height };
}

/** Draws a stroke as the documents do: curves between the midpoints of neighboring points. */
function trace(pen, stroke) {
  const [first, ...rest] = stroke;
  pen.beginPath();
  pen.moveTo(...first);
  for (const [index, [x, y]] of rest.slice(0, -1).entries()) {
    const [nextX, nextY] = rest[index + 1];
    pen.quadraticCurveTo(x, y, (x + nextX) / 2, (y + nextY) / 2);
  }
  const [x, y] = stroke.at(-1);
  // A line of length zero would be invisible.
  pen.lineTo(stroke.length === 1 ? x + 0.1 : x, y);
  pen.stroke();
}

/** Shows a drawing as large as possible, aligned left and centered vertically. */
export function preview(canvas, strokes) {
  const { pen, width, height } = sharp(canvas);
  const all = strokes.flat();
  if (all.length === 0) return;
  const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  const margin = 3;
  const scale = Math.min(
    (width - 2 * margin) / Math.max(1, right - left),
    (height - 2 * margin) / Math.max(1, bottom - top),
    (2 * width) / RANGE,
  );
  const down = (height - (bottom - top) * scale) / 2;
  pen.lineWidth = Math.min(2.2, Math.max(1, PEN * scale));
  for (const stroke of strokes)
    trace(
      pen,
      stroke.map(([x, y]) => [margin + (x - left) * scale, down + (y - top) * scale]),
    );
}

/** Creates the pad in a dialog. `draw` resolves to a drawing, or to undefined if nothing should change. */
export function padIn(dialog) {
  const canvas = dialog.querySelector('canvas');
  const statusLine = dialog.querySelector('[role="status"]');
  const use = dialog.querySelector('[value="use"]');
  let strokes = [];
  let current;

  const count = () => strokes.reduce((sum, stroke) => sum + stroke.length, 0);
  const isFull = () => strokes.length > MOST.strokes || count() >= MOST.points;
  const show = () => {
    const { pen, width } = sharp(canvas);
    pen.lineWidth = (PEN * width) / RANGE;
    for (const stroke of strokes)
      trace(
        pen,
        stroke.map(([x, y]) => [(x * width) / RANGE, (y * width) / RANGE]),
      );
    use.disabled = strokes.length === 0;
    statusLine.textContent = isFull()
      ? 'The drawing is full.'
      : 'Use a finger, a pen, or the mouse. To type instead, cancel.';
  };
  const add = (event) => {
    const box = canvas.getBoundingClientRect();
    const unit = (pixels) => Math.min(RANGE, Math.max(0, Math.round((pixels / box.width) * RANGE)));
    const point = [unit(event.clientX - box.left), unit(Math.min(box.height, event.clientY - box.top))];
    const last = current.at(-1);
    const isNear = last && Math.hypot(point[0] - last[0], point[1] - last[1]) < STEP;
    if (!isNear && count() < MOST.points) current.push(point);
  };

  canvas.addEventListener('pointerdown', (event) => {
    if (!event.isPrimary || event.button !== 0 || strokes.length >= MOST.strokes || isFull()) return;
    canvas.setPointerCapture(event.pointerId);
    current = [];
    strokes.push(current);
    add(event);
    show();
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!current || !event.isPrimary) return;
    const between = event.getCoalescedEvents?.() ?? [];
    for (const part of between.length > 0 ? between : [event]) add(part);
    show();
  });
  for (const end of ['pointerup', 'pointercancel'])
    canvas.addEventListener(end, () => {
      current = undefined;
    });

  const change = (next) => {
    strokes = next;
    show();
  };
  const undo = () => change(strokes.slice(0, -1));
  dialog.querySelector('[data-pad="undo"]').addEventListener('click', undo);
  dialog.querySelector('[data-pad="clear"]').addEventListener('click', () => change([]));
  dialog.addEventListener('keydown', (event) => {
    if (event.key !== 'z' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    undo();
  });
  new ResizeObserver(() => dialog.open && show()).observe(canvas);

  return {
    draw(title, drawing) {
      dialog.querySelector('h2').textContent = title;
      dialog.returnValue = '';
      dialog.showModal();
      change(readStrokes(drawing));
      return new Promise((resolve) => {
        dialog.addEventListener(
          'close',
          () => resolve(dialog.returnValue === 'use' ? writeStrokes(strokes) : undefined),
          { once: true },
        );
      });
    },
  };
}
