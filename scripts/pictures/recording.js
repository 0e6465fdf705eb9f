import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import xterm from '@xterm/headless';
import { FOLDER, flushed, words } from './shell.js';
import { placeOf, screenOf, widthOf, windowOf } from './svg.js';

const COLUMNS = 100;
const ROWS = 18;
const KEY_MS = 20;
/** The longest pause shown within a command. */
const MAX_PAUSE_MS = 700;
/** How long the result of a command is shown before the next one is typed. */
const READ_MS = 1_500;
const LAST_FRAME_MS = 3_000;
const SAMPLE_MS = 30;
const TITLE =
  'esign from start to finish: send a document, sign it in the sandbox, then download and verify the signed PDF';

/** Records a tour, from sending to verified documents, as an animated SVG. */
export async function recordTour(shell) {
  const terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  const frames = [];
  const take = async (ms) => {
    await flushed(terminal);
    const lines = screenOf(terminal);
    const last = frames.at(-1);
    if (last?.lines.join('\n') === lines.join('\n')) last.ms = Math.min(last.ms + ms, MAX_PAUSE_MS);
    else frames.push({ lines, ms });
  };
  /** Types a command, runs it to its end, and shows its result. */
  const run = async (line) => {
    terminal.write('\u001b[2m$\u001b[0m ');
    for (const key of commandLine(line)) {
      terminal.write(key);
      await take(KEY_MS);
    }
    terminal.write('\r\n');
    const { ended } = shell.run(terminal, line, ROWS);
    const isRunning = () => Promise.race([ended.then(() => false), setTimeout(SAMPLE_MS, true)]);
    while (await isRunning()) await take(SAMPLE_MS);
    await take(0);
    frames.at(-1).ms += READ_MS;
  };
  terminal.write(
    '\u001b[2m# Send a document, sign it in the sandbox, and download the signed PDF\u001b[0m\r\n',
  );
  await take(READ_MS);
  await run(words`envelopes create --template tmpl_nda --send --signer ${'Ada Lovelace <ada@example.com>'}`);
  const [id] = (await shell.esign`envelopes list -q`).split('\n');
  await run(words`sandbox sign ${id}`);
  await run(words`envelopes download ${id}`);
  await run(words`documents verify`);
  frames.at(-1).ms += LAST_FRAME_MS;
  await writeFile(join(FOLDER, 'tour.svg'), filmOf(frames));
}

/**
 * Puts the screens side by side on a strip that moves behind the window. Each distinct line is drawn only once. Without
 * animation, the last screen is shown.
 */
function filmOf(frames) {
  const width = widthOf(COLUMNS);
  const ids = new Map();
  for (const { lines } of frames)
    for (const line of lines) if (line !== '' && !ids.has(line)) ids.set(line, `l${ids.size}`);
  const total = frames.reduce((sum, { ms }) => sum + ms, 0);
  let shown = 0;
  const steps = frames.map(({ ms }, at) => {
    const step = `${((100 * shown) / total).toFixed(3)}%{transform:translateX(${-at * width}px)}`;
    shown += ms;
    return step;
  });
  const end = -(frames.length - 1) * width;
  const screens = frames.map(({ lines }, at) => {
    const rows = lines.flatMap((line, row) =>
      line === '' ? [] : `<use href="#${ids.get(line)}" transform="${placeOf(row)}"/>`,
    );
    return `<g transform="translate(${at * width} 0)">${rows.join('')}</g>`;
  });
  return windowOf({ columns: COLUMNS, rows: ROWS, title: TITLE }, [
    '<style>',
    `@keyframes play{${steps.join('')}}`,
    `.film{animation:play ${(total / 1000).toFixed(1)}s steps(1,end) infinite}`,
    '@media (prefers-reduced-motion:reduce){.film{animation:none}}',
    '</style>',
    `<defs>${[...ids].map(([line, id]) => `<g id="${id}">${line}</g>`).join('\n')}</defs>`,
    `<g class="film" transform="translate(${end} 0)">${screens.join('\n')}</g>`,
  ]);
}

/** Returns the command as a person would type it: quoted, and with a line for each signer. */
function commandLine(line) {
  const quoted = line.map((word) => (/[ <;]/.test(word) ? `'${word}'` : word));
  return ['esign', ...quoted].join(' ').replaceAll(' --signer', ' \\\r\n    --signer');
}
