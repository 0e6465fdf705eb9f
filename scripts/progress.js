/** What runs now: the title of each, and since when. */
const running = new Map();
let timer;

/**
 * Shows that something runs: on a terminal in one line that counts the seconds, elsewhere in a line from time to time.
 * Returns what to call at its end.
 */
export function progress(title) {
  const live = process.stderr.isTTY;
  running.set(title, Date.now());
  if (live) draw();
  else process.stderr.write(`${title} …\n`);
  timer ??= setInterval(live ? draw : tell, live ? 250 : 15_000);
  return (well) => {
    process.stderr.write(`${live ? '\r\u001b[K' : ''}${lineOf(title)}, ${well ? 'done' : 'failed'}\n`);
    running.delete(title);
    if (running.size === 0) {
      clearInterval(timer);
      timer = undefined;
    } else if (live) draw();
  };
}

function lineOf(title) {
  return `${title} … ${Math.round((Date.now() - running.get(title)) / 1000)} s`;
}

function draw() {
  process.stderr.write(`\r\u001b[K${[...running.keys()].map(lineOf).join('   ')}`);
}

function tell() {
  for (const title of running.keys()) process.stderr.write(`${lineOf(title)}\n`);
}
