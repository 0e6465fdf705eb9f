import { describe, expect, it } from 'vitest';
import { findAddress, openTunnel } from '../../src/webhooks/tunnel.ts';
import { fakeClock } from '../support/clock.ts';

describe('the address in the output of a tunnel', () => {
  it.each([
    [
      'cloudflared',
      `INF Thank you for trying Cloudflare Tunnel. By using it you accept https://www.cloudflare.com/website-terms/
INF a named tunnel: https://developers.cloudflare.com/cloudflare-one/connections/connect-apps
INF |  Your quick Tunnel has been created! Visit it at:  |
INF |  https://four-odd-words-here.trycloudflare.com                 |
`,
      'https://four-odd-words-here.trycloudflare.com',
    ],
    [
      'ngrok --log stdout',
      't=2026-01-02 lvl=info msg="started tunnel" addr=http://localhost:4242 url=https://ab12.ngrok-free.app\n',
      'https://ab12.ngrok-free.app',
    ],
    [
      'localhost.run',
      '** see https://localhost.run/docs/ and https://admin.localhost.run/ **\nab12.lhr.life tunneled, https://ab12.lhr.life\n',
      'https://ab12.lhr.life',
    ],
    [
      'older host names',
      'f27f.localhost.run tunneled, https://f27f.localhost.run\n',
      'https://f27f.localhost.run',
    ],
    ['serveo', 'Forwarding HTTP traffic from https://ab12.serveo.net\r\n', 'https://ab12.serveo.net'],
    [
      'a complete address',
      'go to https://hooks.example.com:8443/webhooks now',
      'https://hooks.example.com:8443',
    ],
    ['brackets', '{"url":"https://json.example"}', 'https://json.example'],
    ['another path', 'read https://example.com/manual first\n', undefined],
    ['one that may be incomplete', 'https://half.examp', undefined],
    ['http', 'http://plain.example \n', undefined],
    ['nonsense', 'https:// https://% \n', undefined],
  ])('is found for %s', (_, text, expected) => {
    expect(findAddress(text, '/webhooks')).toBe(expected);
  });
});

it.skipIf(process.platform === 'win32')('stops a tunnel that shows no address in time', async () => {
  const signal = new AbortController().signal;
  const options = { listensAt: 'http://0.0.0.0:4242/webhooks', clock: fakeClock(), signal };
  const opening = openTunnel('echo hello {url}; exec sleep 1000', options);
  await expect(opening).rejects.toThrow('within 30 seconds');
});
