// Runs on every page: shows times in the reader's time zone, and adds buttons that copy commands.

const LOCALE = 'en-GB';
const DATE = { day: 'numeric', month: 'short', year: 'numeric' };
const FORMATS = {
  time: new Intl.DateTimeFormat(LOCALE, { ...DATE, hour: '2-digit', minute: '2-digit' }),
  day: new Intl.DateTimeFormat(LOCALE, { ...DATE, month: 'long' }),
};
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
/** Units with their length in seconds. */
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

function relative(iso, now) {
  const seconds = (Date.parse(iso) - now) / 1000;
  for (const [unit, length] of UNITS)
    if (Math.abs(seconds) >= length) return RELATIVE.format(Math.trunc(seconds / length), unit);
  return 'just now';
}

/** Writes every `<time>` in local time. `now` is the sandbox's time in ms. */
export function showTimes(root, now) {
  for (const element of root.querySelectorAll('time[data-shown]')) {
    const { dateTime, dataset } = element;
    const text = (FORMATS[dataset.shown] ?? FORMATS.time).format(new Date(dateTime));
    if (dataset.shown !== 'both') element.textContent = text;
    else {
      const small = document.createElement('small');
      small.textContent = text;
      element.replaceChildren(relative(dateTime, now), ' ', small);
    }
  }
}

function addCopyButtons(root) {
  if (!navigator.clipboard) return;
  for (const text of root.querySelectorAll('[data-copy]')) {
    const looks = { type: 'button', className: 'small copy', textContent: 'Copy' };
    const copy = Object.assign(document.createElement('button'), looks);
    copy.addEventListener('click', async () => {
      await navigator.clipboard.writeText(text.textContent);
      copy.textContent = 'Copied';
      setTimeout(() => {
        copy.textContent = 'Copy';
      }, 1500);
    });
    const frame = document.createElement('div');
    frame.className = 'copyable';
    text.replaceWith(frame);
    frame.append(text, copy);
  }
}

/** What the server can't do: local times and copy buttons. */
export function enhance(root, now) {
  showTimes(root, now);
  addCopyButtons(root);
}

enhance(document, Date.parse(document.body.dataset.now) || Date.now());
