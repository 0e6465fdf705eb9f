import type { Environment } from '../environment.ts';
import { proxySecrets } from '../network/proxy.ts';

/** Environment variables that contain secrets of esign. */
const SECRETS = [
  'ESIGN_API_KEY',
  'ESIGN_WEBHOOK_SECRET',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
] as const;
export type SecretVariable = (typeof SECRETS)[number];

/** Returns the secrets in the environment, for the redactor. */
export function secretsInEnvironment(env: Environment): string[] {
  return [...SECRETS.flatMap((name) => env[name] ?? []), ...proxySecrets(env)];
}

/**
 * Returns the environment for a child process: the current one without secrets, unless the program needs them.
 * @param more additional variables
 * @param keep secrets that the program needs
 */
export function childEnvironment(
  more: Environment = {},
  keep: readonly SecretVariable[] = [],
  env: Environment = process.env,
): Record<string, string | undefined> {
  const isSecret = (name: string) => SECRETS.some((secret) => secret === name && !keep.includes(secret));
  // On Windows, variable names are case-insensitive.
  const own = Object.entries(env).filter(([name]) => !isSecret(name.toUpperCase()));
  return { ...Object.fromEntries(own), ...more };
}
