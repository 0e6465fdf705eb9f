// Adds new entries to this page while it is visible.
import { enhance, showTimes } from './page.js';

const INTERVAL_MS = 2_000;
let shown;

async function refresh() {
  if (document.hidden) return;
  const reply = await fetch(location.href);
  if (!reply.ok) return;
  const fresh = new DOMParser().parseFromString(await reply.text(), 'text/html');
  const [current, next] = [document, fresh].map((page) => page.querySelector('[data-live]'));
  const now = Date.parse(fresh.body.dataset.now);
  if (next.innerHTML === shown) return showTimes(current, now);
  shown = next.innerHTML;
  current.replaceWith(next);
  enhance(next, now);
}

setInterval(() => refresh().catch(() => undefined), INTERVAL_MS);
