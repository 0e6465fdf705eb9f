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

/** The methods of an agent that are used here. */
export type HttpAgent = Pick<Dispatcher, 'request' | 'dispatch' | 'compose' | 'close' | 'destroy'>;

/** Creates an agent, which connects to any number of hosts and keeps connections open between requests. */
export function createAgent(options: Agent.Options): HttpAgent {
  return new Agent(options);
}

/** Creates a function that opens connections, to one host at a time. */
export function createConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  return buildConnection(options);
}
