import { argv } from './argv.ts';
import type { Home } from './cli.ts';
import { answerPage, fakeService } from './fake-service.ts';

/** IDs that no service should return. */
export const UNPRINTABLE = ['zz\u001b]0;title\u0007', 'zz\nnext', 'zz\ttab', 'zz\u202eevil', 'zz\r:files'];

/**
 * Starts a service with these templates and an envelope of each status, and shows a list of both, so that completion knows them.
 * Returns the environment of commands that use it.
 */
export async function serviceToComplete(
  home: Home,
  templates: readonly { id: string; name: string }[],
): Promise<Record<string, string>> {
  const envelopes = ['DRAFT', 'SENT', 'IN_PROGRESS', 'COMPLETED'].map((status) => ({
    id: `env_${status.toLowerCase()}`,
    status,
    subject: 'Lease',
    templateId: 'tmpl_lease',
  }));
  const service = await fakeService((request, response) => {
    const items = request.path.endsWith('templates') ? templates : envelopes;
    answerPage(request, response, items.length, (i) => items[i]);
  });
  const env = { ...home.env, ...service.env };
  await home.run(argv`templates list -q`, { env });
  await home.run(argv`envelopes list -q`, { env });
  return env;
}
