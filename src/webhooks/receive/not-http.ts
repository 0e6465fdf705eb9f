import type { Socket } from 'node:net';
import { codeOf } from '../../kernel/errors.ts';

/** Why the bytes on a connection are not an HTTP request. */
export type NotHttpReason = 'TLS' | 'an unknown method' | 'something other than HTTP';

/** The first byte of a TLS connection: a handshake record (RFC 8446, 5.1). */
const TLS_HANDSHAKE = 0x16;

/** The errors of HTTP requests that are too long, or end early. */
const OTHER_ERRORS = new Set([
  'HPE_HEADER_OVERFLOW',
  'HPE_CHUNK_EXTENSIONS_OVERFLOW',
  'HPE_INVALID_EOF_STATE',
  'HPE_CLOSED_CONNECTION',
]);

/** Returns why a parser refused the bytes on a connection; undefined if it was closed or too slow, or if its request was too long. */
export function notHttpReason(error: Error & { rawPacket?: unknown }): NotHttpReason | undefined {
  const code = codeOf(error) ?? '';
  if (!code.startsWith('HPE_') || OTHER_ERRORS.has(code)) return undefined;
  const { rawPacket } = error;
  if (rawPacket instanceof Uint8Array && rawPacket[0] === TLS_HANDSHAKE) return 'TLS';
  return code === 'HPE_INVALID_METHOD' && rawPacket instanceof Uint8Array && isRequestLine(rawPacket)
    ? 'an unknown method'
    : 'something other than HTTP';
}

function isRequestLine(bytes: Uint8Array): boolean {
  return /^[A-Za-z-]{1,20} \S+ HTTP\/\d/.test(Buffer.from(bytes.subarray(0, 2_048)).toString('latin1'));
}

const STATUS: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
};

/** Responds to what can't be parsed, as node:http does by default, and closes the connection. */
export function refuseConnection(socket: Socket, error: Error): void {
  if (!socket.writable || socket.bytesWritten > 0) return void socket.destroy();
  socket.end(
    `HTTP/1.1 ${STATUS[codeOf(error) ?? ''] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`,
    () => socket.destroy(),
  );
}
