const live = process.stderr.isTTY;
/** The running task: its title, its start time, and its current step. */
let task;

/**
 * Shows that a task is running: on a terminal, in one line that counts the seconds; elsewhere, with a line from time to time.
 * Returns a function to call when the task ends.
 */
export function progress(title) {
  task = { title, since: Date.now(), at: '' };
  if (live) show();
  else process.stderr.write(`${title} …\n`);
  const timer = setInterval(show, live ? 250 : 15_000);
  return (well) => {
    clearInterval(timer);
    task.at = '';
    process.stderr.write(`${live ? '\r\u001b[K' : ''}${line()}, ${well ? 'done' : 'failed'}\n`);
    task = undefined;
  };
}

/** Shows the current step of the running task, if there is one. */
export function showStep(text) {
  if (task === undefined) return;
  task.at = `: ${text}`;
  show();
}

function line() {
  return `${task.title}${task.at} … ${Math.round((Date.now() - task.since) / 1000)} s`;
}

function show() {
  // A line that wraps couldn't be overwritten.
  const shown = live ? `\r\u001b[K${line().slice(0, (process.stderr.columns ?? 80) - 1)}` : `${line()}\n`;
  process.stderr.write(shown);
}
