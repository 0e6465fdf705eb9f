import { type Environment, proxySecrets } from '../network/proxy.ts';

/** Variables that contain our secrets. */
const SECRETS = [
  'ESIGN_API_KEY',
  'ESIGN_WEBHOOK_SECRET',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
] as const;
export type SecretVariable = (typeof SECRETS)[number];

/** Returns the secrets in the environment, for the redactor. */
export function secretsOf(env: Environment): string[] {
  return [...SECRETS.flatMap((name) => env[name] ?? []), ...proxySecrets(env)];
}

/**
 * Returns the environment for a program we start: ours without our secrets, which no program gets unless it needs them.
 * @param more additional variables
 * @param keep secrets that the program needs
 */
export function childEnvironment(
  more: Environment = {},
  keep: readonly SecretVariable[] = [],
  env: Environment = process.env,
): Record<string, string | undefined> {
  const isOurs = (name: string) => SECRETS.some((secret) => secret === name && !keep.includes(secret));
  // Windows ignores case in names of variables.
  const own = Object.entries(env).filter(([name]) => !isOurs(name.toUpperCase()));
  return { ...Object.fromEntries(own), ...more };
}
