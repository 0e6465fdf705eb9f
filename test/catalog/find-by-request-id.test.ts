import { expect, it } from 'vitest';
import { findByRequestId } from '../../src/catalog/find-by-request-id.ts';
import { clientFor } from '../support/client.ts';
import { answerPage } from '../support/fake-service.ts';
import { json, startServer } from '../support/server.ts';

it('finds the envelope of a request ID at any age, and with any spelling of the key', async () => {
  const metadata = { esignrequestid: 'req-1' };
  const server = await startServer((request, response) =>
    request.path.endsWith('env_240')
      ? json(response, 200, { data: { id: 'env_240', metadata } })
      : answerPage(request, response, 250, (index) => ({
          id: `env_${index}`,
          createdAt: new Date(Date.UTC(2026, 0, 2) - index * 86_400_000).toISOString(),
          metadata: index === 240 ? metadata : {},
        })),
  );
  try {
    const client = clientFor(server.origin, { retries: 0 });
    expect(await findByRequestId(client, 'req-1')).toMatchObject({ id: 'env_240' });
  } finally {
    await server.close();
  }
});
