// Draws the pages of a PDF, each as wide as its column.
import * as pdf from '/assets/pdf.min.mjs';

pdf.GlobalWorkerOptions.workerSrc = '/assets/pdf.worker.min.mjs';
/** The number of pages drawn immediately. The others are drawn when they come near, because each takes several megabytes. */
const DRAWN_AT_ONCE = 10;

/**
 * Calls `place(sheet, number, size)` for each page before it is drawn. `size` is in points.
 */
export async function drawPages(pages, place) {
  const file = await pdf.getDocument({ url: pages.dataset.document, isEvalSupported: false }).promise;
  const waiting = new Map();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        drawSheet(waiting.get(target), target);
      }
    },
    { rootMargin: '1000px' },
  );
  for (let number = 1; number <= file.numPages; number++) {
    const page = await file.getPage(number);
    const { width, height } = page.getViewport({ scale: 1 });
    const sheet = document.createElement('div');
    sheet.className = 'page';
    sheet.setAttribute('role', 'group');
    sheet.style.aspectRatio = `${width} / ${height}`;
    sheet.setAttribute('aria-label', `Page ${number} of ${file.numPages}`);
    pages.append(sheet);
    place(sheet, number, { width, height });
    if (number <= DRAWN_AT_ONCE && sheet.clientWidth > 0) await drawSheet(page, sheet);
    else {
      waiting.set(sheet, page);
      observer.observe(sheet);
    }
  }
  pages.dataset.ready = 'true';
}

/** Places an element on a page of this size. Both are in points. */
export function layOver(element, size, { x, y, width, height }) {
  element.style.left = `${(x / size.width) * 100}%`;
  element.style.top = `${(y / size.height) * 100}%`;
  element.style.width = `${(width / size.width) * 100}%`;
  element.style.height = `${(height / size.height) * 100}%`;
}

/** Draws a page; on a small screen, at twice the resolution, so that people can zoom in. */
async function drawSheet(page, sheet) {
  const { width } = page.getViewport({ scale: 1 });
  const fineness = window.devicePixelRatio * (sheet.clientWidth < 600 ? 2 : 1);
  const viewport = page.getViewport({ scale: (sheet.clientWidth / width) * fineness });
  const canvas = document.createElement('canvas');
  canvas.width = viewport.width;
  canvas.height = viewport.height;
  sheet.prepend(canvas);
  await page.render({ canvas, viewport }).promise;
}
