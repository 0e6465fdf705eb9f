// Runs on every page of a server: shows times in the reader's time zone, and lets people copy commands.

const DATE = { day: 'numeric', month: 'short', year: 'numeric' };
const MINUTE = new Intl.DateTimeFormat('en-GB', { ...DATE, hour: '2-digit', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { ...DATE, month: 'long' });
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
/** Units with their length in ms. */
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

function relative(ms) {
  const unit = UNITS.find(([, length]) => Math.abs(ms) >= length);
  return unit ? RELATIVE.format(Math.trunc(ms / unit[1]), unit[0]) : 'just now';
}

/** Writes a time in local time. With `both`, it is preceded by how long ago it was, by the server's clock. */
function showTime(element) {
  const at = new Date(element.dateTime);
  const { shown } = element.dataset;
  element.textContent = (shown === 'day' ? DAY : MINUTE).format(at);
  if (shown !== 'both') return;
  const small = document.createElement('small');
  small.append(...element.childNodes);
  const now = Date.parse(document.body.dataset.now) || Date.now();
  element.append(relative(at - now), ' ', small);
}

/** Copies text and confirms it on the button. */
export async function copy(text, button) {
  const before = button.textContent;
  const isCopied = await navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
  button.textContent = isCopied ? 'Copied' : 'Not allowed';
  setTimeout(() => {
    button.textContent = before;
  }, 1_500);
}

document.querySelectorAll('time[data-shown]').forEach(showTime);
for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = !navigator.clipboard;
  button.addEventListener('click', () => copy(button.previousElementSibling.textContent, button));
}
