import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import xterm from '@xterm/headless';
import { flushed, words } from './shell.js';
import { placeOf, screenOf, widthOf, windowOf } from './svg.js';

const COLUMNS = 100;
const ROWS = 16;
const KEY_MS = 28;
/** The longest pause shown within a command. */
const MAX_PAUSE_MS = 700;
/** How long the result of a command is shown before the next one is typed. */
const READ_MS = 1_800;
const LAST_FRAME_MS = 4_000;
const SAMPLE_MS = 30;

/** Records the five-minute tour, from sending to verified documents, as an animated SVG. */
export async function record(shell, name) {
  const film = new Film(new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true }));
  const people = ['Ada <ada@example.com>;role=Landlord', 'Li <li@example.com>;role=Tenant'];
  const signers = people.flatMap((signer) => ['--signer', signer]);
  await film.run(shell, words`templates list`);
  await film.run(shell, words`envelopes create --template tmpl_lease --send ${signers}`);
  const id = (await shell.esign`envelopes list -q`).split('\n')[0] ?? '';
  await film.clear();
  await film.run(shell, words`envelopes watch ${id} --interval 500ms`, async () => {
    await shell.esign`sandbox sign ${id}`;
    await setTimeout(1_200);
    await shell.esign`sandbox sign ${id}`;
  });
  await film.run(shell, words`envelopes download ${id}`);
  await film.run(shell, words`documents verify`);
  film.hold(LAST_FRAME_MS);
  const title =
    'esign from start to finish: send a lease to two people, watch it being signed, then download and verify the documents';
  await writeFile(join(shell.folder, `${name}.svg`), film.svg(title));
}

/** The screens of a terminal, and how long each is shown. */
class Film {
  #terminal;
  #frames = [];

  constructor(terminal) {
    this.#terminal = terminal;
  }

  /** Types a command, runs it to its end, and shows its result. `meanwhile` is called while the command is running. */
  async run(shell, line, meanwhile) {
    this.#terminal.write('\u001b[2m$\u001b[0m ');
    for (const key of commandLine(line)) {
      this.#terminal.write(key);
      await this.#take(KEY_MS);
    }
    this.#terminal.write('\r\n');
    const { ended } = shell.run(this.#terminal, line, ROWS);
    let isRunning = true;
    const done = Promise.all([ended, meanwhile?.()]).then(() => {
      isRunning = false;
    });
    while (isRunning) {
      await this.#take(SAMPLE_MS);
      await setTimeout(SAMPLE_MS);
    }
    await done;
    await this.#take(0);
    this.hold(READ_MS);
  }

  async clear() {
    this.#terminal.write('\u001b[2J\u001b[H');
    await this.#take(KEY_MS);
  }

  hold(ms) {
    this.#frames.at(-1).ms += ms;
  }

  async #take(ms) {
    await flushed(this.#terminal);
    const lines = screenOf(this.#terminal);
    const last = this.#frames.at(-1);
    if (last?.lines.join('\n') === lines.join('\n')) last.ms = Math.min(last.ms + ms, MAX_PAUSE_MS);
    else this.#frames.push({ lines, ms });
  }

  /** Puts the screens side by side on a strip that moves behind the window. Each distinct line is drawn only once. */
  svg(title) {
    const width = widthOf(COLUMNS);
    const ids = new Map();
    for (const { lines } of this.#frames)
      for (const line of lines) if (line !== '' && !ids.has(line)) ids.set(line, `l${ids.size}`);
    const total = this.#frames.reduce((sum, { ms }) => sum + ms, 0);
    let shown = 0;
    const steps = this.#frames.map(({ ms }, at) => {
      const step = `${((100 * shown) / total).toFixed(3)}%{transform:translateX(${-at * width}px)}`;
      shown += ms;
      return step;
    });
    const end = -(this.#frames.length - 1) * width;
    const screens = this.#frames.map(({ lines }, at) => {
      const rows = lines.flatMap((line, row) =>
        line === '' ? [] : `<use href="#${ids.get(line)}" transform="${placeOf(row)}"/>`,
      );
      return `<g transform="translate(${at * width} 0)">${rows.join('')}</g>`;
    });
    return windowOf({ columns: COLUMNS, rows: ROWS, title }, [
      '<style>',
      `@keyframes play{${steps.join('')}}`,
      `.film{animation:play ${(total / 1000).toFixed(1)}s steps(1,end) infinite}`,
      `@media (prefers-reduced-motion:reduce){.film{animation:none;transform:translateX(${end}px)}}`,
      '</style>',
      `<defs>${[...ids].map(([line, id]) => `<g id="${id}">${line}</g>`).join('\n')}</defs>`,
      `<g class="film">${screens.join('\n')}</g>`,
    ]);
  }
}

/** Returns the command as a person would type it: quoted, and with a line for each signer. */
function commandLine(line) {
  const quoted = line.map((word) => (/[ <;]/.test(word) ? `'${word}'` : word));
  return ['esign', ...quoted].join(' ').replaceAll(' --signer', ' \\\r\n    --signer');
}
