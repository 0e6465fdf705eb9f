import type { buildConnector, Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import buildConnection from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Base from 'undici/lib/dispatcher/dispatcher.js';

/*
 * undici without fetch, WebSocket, caches and mocks, which would make up most of the time that a command takes to start.
 * Its own index puts together what stands here and much more; the exact version is pinned.
 */
Base.prototype.request = request;

/** What an agent made here can do. */
export type HttpAgent = Pick<Dispatcher, 'request' | 'dispatch' | 'compose' | 'close' | 'destroy'>;

/** Connections to any number of hosts, kept open between requests. */
export function createAgent(options: Agent.Options): HttpAgent {
  return new Agent(options);
}

/** Opens connections to one host after the other. */
export function createConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  return buildConnection(options);
}
