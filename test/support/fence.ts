import nock from 'nock';
import { Agent, MockAgent, setGlobalDispatcher } from 'undici';

/*
 * Tests talk to loopback alone. nock fences node:http (the S3 side), undici's mock agent fences undici:
 * neither sees what the other's callers do.
 */
const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

nock.disableNetConnect();
nock.enableNetConnect(LOOPBACK);

const fence = new MockAgent({ agent: new Agent() });
fence.disableNetConnect();
fence.enableNetConnect(LOOPBACK);
setGlobalDispatcher(fence);
