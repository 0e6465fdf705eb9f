/*
 * The examples of doc comments as type-checked code. `examples.test.ts` compares each region with the doc comment of the
 * public function with the same name.
 */

import type { SendRequest } from '../../../src/api/http.ts';
import { eachPage } from '../../../src/api/pages.ts';
import { createClient } from '../../../src/client/client.ts';
import { lockFile } from '../../../src/kernel/files/lock.ts';
import { createRedactor } from '../../../src/kernel/redaction.ts';
import { mapAhead } from '../../../src/kernel/streams.ts';
import { startSandbox } from '../../../src/sandbox/embed.ts';

export async function examples(
  send: SendRequest,
  keys: string[],
  fetchObject: (key: string) => Promise<number>,
) {
  //#region createClient
  const esign = createClient({ baseUrl: 'https://api.example.com/api/v1', apiKey: 'sk_…' });
  const requestId = 'contract-4711';
  const signers = [{ email: 'ada@example.com', name: 'Ada Lovelace' }];
  const made = await esign.envelopes.create({ templateId: 'tmpl_nda', signers }, { requestId });
  // After a crash, the same call finds the envelope instead of creating another one.
  if (made.kind === 'unknown') console.error(made.error.message);
  //#endregion

  //#region startSandbox
  const sandbox = await startSandbox();
  process.env.ESIGN_BASE_URL = sandbox.baseUrl;
  process.env.ESIGN_API_KEY = sandbox.apiKey;
  await sandbox.close();
  //#endregion

  //#region mapAhead
  // Eight objects at the same time, reported in the order of the keys.
  for await (const bytes of mapAhead(keys, 8, fetchObject)) console.log(bytes);
  //#endregion

  //#region eachPage
  for await (const { page, fresh } of eachPage(send, { path: '/esign/envelopes' }))
    for (const index of fresh) console.log(page.items[index]);
  //#endregion

  //#region lockFile
  const release = await lockFile('state/run.lock', (pid) => new Error(`Process ${pid} has it.`));
  await release();
  //#endregion

  //#region createRedactor
  const redactor = createRedactor(['s3cr3t']);
  console.log(redactor.redact('key s3cr3t'));
  //#endregion
}
