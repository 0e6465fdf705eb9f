import { processRun } from '../../src/bulk/run.ts';
import { contentOf, requestIdByContent } from '../../src/once/request-identity.ts';
import { RUN_FORMAT, type RunEntry } from '../../src/runs/journal-entries.ts';
import { filesOf } from '../../src/runs/run-files.ts';
import type { RunRow } from '../../src/runs/run-row.ts';
import { RunState } from '../../src/runs/run-state.ts';
import type { OpenRun } from '../../src/runs/runs.ts';
import type { Actor, Machine } from './actor.ts';

/** A list of one row: what can go wrong between rows can go wrong between processes. */
const envelope = { templateId: 'tmpl_1', signers: [{ email: 'ada@example.com', name: 'Ada' }] };
const content = contentOf(envelope);
const requestId = requestIdByContent(content, envelope.signers);
const ROWS: readonly RunRow[] = [
  { row: 1, line: 2, requestId, identity: 'content', content, cells: '', envelope: { ...envelope, content } },
];

/** `bulk create --send` of the same list on every machine, or `bulk resume` where the journal has a run. */
export const sendList: Actor = async (machine) => {
  const run = await openRun(machine);
  const { client, signal } = machine;
  const ending = await processRun(run, {
    client,
    concurrency: 1,
    signal,
    redact: (text) => text,
    observer: { row: () => undefined, notice: () => undefined },
  });
  if (ending.kind === 'stopped') throw ending.error;
  const error = run.state.errorOf(1);
  return { sent: error === undefined ? [run.state.idOf(1) ?? ''] : [] };
};

async function openRun({ name, journal, clock, client }: Machine): Promise<OpenRun> {
  const lines = await journal.read();
  const entries = lines.flatMap((line) => RUN_FORMAT.read(JSON.parse(line)) ?? []);
  const [head] = entries;
  const resumed = head?.type === 'run';
  const state = new RunState(resumed ? head : headOf(name, client.baseUrl, clock.now()));
  for (const entry of resumed ? entries.slice(1) : []) state.apply(entry);
  const note = async (entry: RunEntry) => {
    await journal.append([JSON.stringify(entry)]);
    await journal.sync();
    state.apply(entry);
  };
  if (!resumed) {
    // As in the product, a journal exists with its rows or not at all.
    const rows: RunEntry = { type: 'rows', from: 1, rows: [[2, requestId, '']] };
    state.apply(rows);
    await journal.append([JSON.stringify(state.head), JSON.stringify(rows)]);
    await journal.sync();
  }
  return {
    files: filesOf('/nowhere', state.head.id),
    state,
    resumed,
    async *rows() {
      yield* ROWS;
    },
    note,
    finish: (at) => note({ type: 'finished', at }),
    close: () => Promise.resolve(),
  };
}

function headOf(name: string, baseUrl: string, at: number) {
  const facts = { file: 'list.csv', total: 1, mode: 'two-step', profile: null } as const;
  const source = { format: 'csv', encoding: 'utf-8' } as const;
  return { type: 'run', id: `run-${name}`, at, baseUrl, source, ...facts } as const;
}
