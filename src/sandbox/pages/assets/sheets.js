// Draws the pages of a PDF, each as large as its column is wide.
import * as pdf from '/assets/pdf.min.mjs';

pdf.GlobalWorkerOptions.workerSrc = '/assets/pdf.worker.min.mjs';
/** Of a longer document, pages are drawn when they come near: each takes some megabytes. */
const DRAWN_AT_ONCE = 10;

/** Calls `placed(sheet, number, size)` for each page, its size in points, before the page is drawn on the sheet. */
export async function drawPages(pages, placed) {
  const file = await pdf.getDocument({ url: pages.dataset.document, isEvalSupported: false }).promise;
  const later = new Map();
  const watch = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) drawLater(target);
    },
    { rootMargin: '1000px' },
  );
  const drawLater = (sheet) => {
    watch.unobserve(sheet);
    drawSheet(later.get(sheet), sheet);
  };
  for (let number = 1; number <= file.numPages; number++) {
    const page = await file.getPage(number);
    const { width, height } = page.getViewport({ scale: 1 });
    const sheet = document.createElement('div');
    sheet.className = 'page';
    sheet.setAttribute('role', 'group');
    sheet.style.aspectRatio = `${width} / ${height}`;
    sheet.setAttribute('aria-label', `Page ${number} of ${file.numPages}`);
    pages.append(sheet);
    placed(sheet, number, { width, height });
    if (number <= DRAWN_AT_ONCE) await drawSheet(page, sheet);
    else {
      later.set(sheet, page);
      watch.observe(sheet);
    }
  }
  pages.dataset.ready = 'true';
}

async function drawSheet(page, sheet) {
  const { width } = page.getViewport({ scale: 1 });
  const viewport = page.getViewport({ scale: (sheet.clientWidth / width) * window.devicePixelRatio });
  const canvas = document.createElement('canvas');
  canvas.width = viewport.width;
  canvas.height = viewport.height;
  sheet.prepend(canvas);
  await page.render({ canvas, viewport }).promise;
}
