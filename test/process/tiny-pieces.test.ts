import { afterAll, expect, it } from 'vitest';
import { Home, jsonLines } from '../support/cli.ts';
import { fakeService } from '../support/fake-service.ts';

const home = new Home();
afterAll(() => home.close());

it('reads a response in millions of one-byte chunks with little memory', async () => {
  const service = await fakeService((_, response) => {
    response.writeHead(200, { 'transfer-encoding': 'chunked' }).flushHeaders();
    const { socket } = response;
    const send = (text: string) => socket?.write(Array.from(text, (one) => `1\r\n${one}\r\n`).join(''));
    // Bypasses Node, which would join the chunks.
    const blanks = '1\r\n \r\n'.repeat(10_000);
    let left = 200;
    const more = () => {
      while (left > 0 && !socket?.destroyed) {
        left--;
        if (!socket?.write(blanks)) return;
      }
      if (left-- === 0) {
        send('{"data":{"id":"env_1","status":"SENT"}}');
        socket?.write('0\r\n\r\n');
      }
    };
    socket?.on('drain', more);
    more();
  });
  try {
    // Two million separate chunks take over 200 MB.
    const env = { ...service.env, NODE_OPTIONS: '--max-old-space-size=64' };
    const { code, stdout } = await home.run(['envelopes', 'get', 'env_1', '--json'], { env });
    expect(code).toBe(0);
    expect(jsonLines(stdout.replaceAll('\n', ''))).toMatchObject([{ id: 'env_1' }]);
  } finally {
    await service.server.close();
  }
});
