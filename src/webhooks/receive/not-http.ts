import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { codeOf } from '../../kernel/errors.ts';
import { ownValue } from '../../kernel/json.ts';

/** What the sender did wrong if a connection had no request that could be read. */
export type SenderFault =
  | 'used TLS'
  | 'used an unknown method'
  | 'used something other than HTTP'
  | 'sent headers that are too long'
  | 'was too slow';

/** The first byte of a TLS connection: a handshake record (RFC 8446, 5.1). */
const TLS_HANDSHAKE = 0x16;

const FAULTS: Readonly<Record<string, SenderFault>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'was too slow',
  HPE_HEADER_OVERFLOW: 'sent headers that are too long',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'sent headers that are too long',
};

/** The errors of connections that were closed early. */
const CLOSED = new Set(['HPE_INVALID_EOF_STATE', 'HPE_CLOSED_CONNECTION']);

/** Returns why no request could be read; undefined if the sender closed the connection, or never sent anything. */
export function senderFault(error: Error & { rawPacket?: unknown }, socket: Duplex): SenderFault | undefined {
  if (socket instanceof Socket && socket.bytesRead === 0) return undefined;
  const code = codeOf(error) ?? '';
  const fault = ownValue(FAULTS, code);
  if (fault !== undefined || !code.startsWith('HPE_') || CLOSED.has(code)) return fault;
  const { rawPacket } = error;
  if (rawPacket instanceof Uint8Array && rawPacket[0] === TLS_HANDSHAKE) return 'used TLS';
  return code === 'HPE_INVALID_METHOD' && rawPacket instanceof Uint8Array && isRequestLine(rawPacket)
    ? 'used an unknown method'
    : 'used something other than HTTP';
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
