import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';

/**
 * Agents for a proxy that the environment names (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) for this address; nothing when
 * it is reached directly. The SDK itself knows no proxies.
 */
export async function proxyAgents(
  address: string,
): Promise<{ httpAgent?: HttpAgent; httpsAgent?: HttpsAgent }> {
  const { getProxyForUrl } = await import('proxy-from-env');
  const proxy = getProxyForUrl(address);
  if (proxy === '') return {};
  if (address.startsWith('http:')) {
    const { HttpProxyAgent } = await import('http-proxy-agent');
    return { httpAgent: new HttpProxyAgent(proxy) };
  }
  const { HttpsProxyAgent } = await import('https-proxy-agent');
  return { httpsAgent: new HttpsProxyAgent(proxy) };
}
