import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { messagesByTopic } from './messages.ts';

/* After a change of a message: `npm run contract:update`, and review the diff. */
const FOLDER = join(import.meta.dirname, '../../contract/messages');
const messages = messagesByTopic();

describe('the catalog of messages', () => {
  it.each([...messages])('has every message of %s', async (topic, lines) => {
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(join(FOLDER, `${topic}.txt`));
  });

  it('has no file without a topic', () => {
    const files = readdirSync(FOLDER).map((file) => file.replace(/\.txt$/, ''));
    expect(files.filter((topic) => !messages.has(topic))).toEqual([]);
  });
});
