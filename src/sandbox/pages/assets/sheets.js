// Draws the pages of a PDF, each as wide as its column.
import * as pdf from '/assets/pdf.min.mjs';

pdf.GlobalWorkerOptions.workerSrc = '/assets/pdf.worker.min.mjs';

/** Calls `place(sheet, number, size)` for each page before it is drawn. `size` is in points. */
export async function drawPages(pages, place) {
  const file = await pdf.getDocument({ url: pages.dataset.document, isEvalSupported: false }).promise;
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
    await drawSheet(page, sheet, width);
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
async function drawSheet(page, sheet, width) {
  const fineness = window.devicePixelRatio * (sheet.clientWidth < 600 ? 2 : 1);
  const viewport = page.getViewport({ scale: (sheet.clientWidth / width) * fineness });
  const canvas = document.createElement('canvas');
  canvas.width = viewport.width;
  canvas.height = viewport.height;
  sheet.prepend(canvas);
  await page.render({ canvas, viewport }).promise;
}
