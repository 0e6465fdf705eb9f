import { expect, it } from 'vitest';
import { progressText } from '../../src/bulk/commands/run/bulk-progress.ts';

const progress = {
  total: 1_200,
  drafts: undefined,
  done: 600,
  failed: 2,
  finishedNow: 602,
  elapsedMs: 20_000,
  sends: true,
  rateLimitMs: 0,
  searching: undefined,
  waiting: undefined,
};

it.each([
  [{}, '600 of 1,200 sent, 2 failed, 30 a second, 20 seconds left'],
  // The rate limit takes longer than the requests themselves.
  [{ failed: 0, rateLimitMs: 900_000 }, '600 of 1,200 sent, 30 a second, 15 minutes left'],
  [{ sends: false, finishedNow: 0, failed: 0 }, '600 of 1,200 created'],
  // Nobody is emailed before the last draft.
  [{ drafts: 40, done: 0, failed: 0, finishedNow: 0 }, '40 of 1,200 drafts created'],
  [{ searching: 'looking for drafts' }, '600 of 1,200 sent, 2 failed, looking for drafts'],
  // A narrow terminal cuts off the reason, not the time.
  [
    { waiting: { why: 'The rate limit has been reached.', ms: 12_000 } },
    '600 of 1,200 sent, 2 failed, waiting 12 seconds: The rate limit has been reached.',
  ],
  [{ waiting: { why: 'over', ms: -1 }, failed: 0, finishedNow: 0 }, '600 of 1,200 sent'],
])('shows progress: %j', (change, text) => {
  expect(progressText({ ...progress, ...change })).toBe(text);
});
