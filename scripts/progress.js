/** The running tasks by title, each with its start time and current step. */
const running = new Map();
let timer;
const live = process.stderr.isTTY;

/**
 * Shows that a task is running: on a terminal, in one line that counts the seconds; elsewhere, with a line from time to time.
 * Returns a function to call when the task ends.
 */
export function progress(title) {
  running.set(title, { since: Date.now(), at: '' });
  if (live) draw();
  else process.stderr.write(`${title} …\n`);
  timer ??= setInterval(live ? draw : tell, live ? 250 : 15_000);
  return (well) => {
    running.get(title).at = '';
    process.stderr.write(`${live ? '\r\u001b[K' : ''}${lineOf(title)}, ${well ? 'done' : 'failed'}\n`);
    running.delete(title);
    if (running.size === 0) {
      clearInterval(timer);
      timer = undefined;
    } else if (live) draw();
  };
}

/** Shows the current step of the most recently started task. */
export function showStep(text) {
  const title = [...running.keys()].at(-1);
  if (title === undefined) return;
  running.get(title).at = `: ${text}`;
  if (live) draw();
  else process.stderr.write(`${lineOf(title)}\n`);
}

function lineOf(title) {
  const { since, at } = running.get(title);
  return `${title}${at} … ${Math.round((Date.now() - since) / 1000)} s`;
}

function draw() {
  const line = [...running.keys()].map(lineOf).join('   ');
  // A line that wraps couldn't be overwritten.
  process.stderr.write(`\r\u001b[K${line.slice(0, (process.stderr.columns ?? 80) - 1)}`);
}

function tell() {
  for (const title of running.keys()) process.stderr.write(`${lineOf(title)}\n`);
}
