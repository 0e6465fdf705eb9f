import { type Environment, proxySecrets } from '../network/proxy.ts';

/** The variables that hold a secret of ours. */
const SECRETS = [
  'ESIGN_API_KEY',
  'ESIGN_WEBHOOK_SECRET',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
] as const;
export type SecretVariable = (typeof SECRETS)[number];

/** The secrets that the environment holds, for the redactor. */
export function secretsOf(env: Environment): string[] {
  return [...SECRETS.flatMap((name) => env[name] ?? []), ...proxySecrets(env)];
}

/**
 * The environment of a program that we start: ours without our secrets, since no program is trusted with what it has no
 * use for.
 * @param more what it gets besides
 * @param keep the secrets that it needs for what it is there for
 */
export function childEnvironment(
  more: Environment = {},
  keep: readonly SecretVariable[] = [],
  env: Environment = process.env,
): Record<string, string | undefined> {
  const isOurs = (name: string) => SECRETS.some((secret) => secret === name && !keep.includes(secret));
  // Windows knows no capitals in names of variables.
  const own = Object.entries(env).filter(([name]) => !isOurs(name.toUpperCase()));
  return { ...Object.fromEntries(own), ...more };
}
