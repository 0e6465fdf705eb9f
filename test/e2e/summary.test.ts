import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../support/cli.ts';

const home = new Home();
beforeAll(async () => {
  await home.sandbox();
  const create = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'Ada <ada@example.com>'];
  await home.run`${create} --subject <script>alert(1)</script> --send`;
  const { id } = await home.object`${create} --send`;
  await home.run`sandbox sign ${String(id)}`;
  await home.run(create);
});
afterAll(() => home.close());

describe('envelopes summary', () => {
  it('counts envelopes, in every format', async () => {
    const summary = await home.object`envelopes summary`;
    expect(summary).toMatchObject({
      total: 3,
      byStatus: { SENT: 1, COMPLETED: 1, DRAFT: 1 },
      completion: { count: 1 },
    });
    const plain = await home.run`envelopes summary --status SENT`;
    expect(plain.stdout).toBe('SENT\t1\n');
    const ids = await home.run`envelopes summary -q`;
    expect(ids.stdout).toBe((await home.run`envelopes list --status SENT -q`).stdout);
  });
});
