// Shows what is new on this page, as long as it is looked at.
const EVERY_MS = 2_000;

async function refresh() {
  if (document.hidden) return;
  const reply = await fetch(location.href);
  if (!reply.ok) return;
  const fresh = new DOMParser().parseFromString(await reply.text(), 'text/html');
  const [now, next] = [document, fresh].map((page) => page.querySelector('[data-live]'));
  if (now && next && now.innerHTML !== next.innerHTML) now.replaceWith(next);
}

setInterval(() => refresh().catch(() => undefined), EVERY_MS);
