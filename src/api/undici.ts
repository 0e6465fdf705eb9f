import type { buildConnector, Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import buildConnection from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Base from 'undici/lib/dispatcher/dispatcher.js';

/*
 * undici without fetch, WebSocket, caches, and mocks, which would take most of a command's start-up time. The version is pinned
 * exactly, because these are internal files.
 */
Base.prototype.request = request;

/** The methods we use of an agent. */
export type HttpAgent = Pick<Dispatcher, 'request' | 'dispatch' | 'compose' | 'close' | 'destroy'>;

/** Connections to any number of hosts, kept open between requests. */
export function createAgent(options: Agent.Options): HttpAgent {
  return new Agent(options);
}

/** Opens connections to one host after the other. */
export function createConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  return buildConnection(options);
}
