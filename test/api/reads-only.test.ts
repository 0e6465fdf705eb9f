import { expect, it } from 'vitest';
import { createClient } from '../../src/api/client.ts';
import { fakeClock } from '../support/clock.ts';
import { json, startServer } from '../support/server.ts';

it('allows only GET requests in read-only mode', async () => {
  const methods: string[] = [];
  const server = await startServer((request, response) => {
    methods.push(request.method);
    json(response, 200, { data: { id: 'env_1', status: 'SENT' } });
  });
  try {
    const client = createClient({
      baseUrl: `${server.origin}/api/v1`,
      apiKey: 'esk_0123456789abcdef',
      timeoutMs: 30_000,
      userAgent: 'test',
      clock: fakeClock(),
      readsOnly: true,
    });
    await client.envelopes.get('env_1');
    await expect(client.envelopes.send('env_1')).rejects.toMatchObject({ code: 'USAGE' });
    await expect(client.send({ method: 'DELETE', path: '/esign/x' })).rejects.toMatchObject({
      code: 'USAGE',
    });
    expect(methods).toEqual(['GET']);
  } finally {
    await server.close();
  }
});
