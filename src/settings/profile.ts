import * as z from 'zod/mini';

/** The customer's bucket, and how to sign requests to it. Without an access key, the default AWS credential chain is used. */
const storageSchema = z.looseObject({
  bucket: z.optional(z.string()),
  region: z.optional(z.string()),
  endpoint: z.optional(z.string()),
  pathStyle: z.optional(z.boolean()),
  awsProfile: z.optional(z.string()),
  accessKeyId: z.optional(z.string()),
  secretAccessKey: z.optional(z.string()),
});
export type StorageSettings = z.infer<typeof storageSchema>;

/** Limits on writes with this profile. */
const guardsSchema = z.looseObject({
  readOnly: z.optional(z.boolean()),
  /** Addresses and patterns. An empty list allows no recipients. */
  onlyTo: z.optional(z.array(z.string())),
  maxEmails: z.optional(z.number()),
  confirmName: z.optional(z.boolean()),
});
export type ProfileGuards = z.infer<typeof guardsSchema>;

/** A base URL, and a key or the command that prints it. Exactly one of the two apiKey… settings is set. */
const profileSchema = z.looseObject({
  baseUrl: z.string(),
  apiKey: z.optional(z.string()),
  apiKeyCommand: z.optional(z.string()),
  insecureHttp: z.optional(z.boolean()),
  /** Whether the profile belongs to a sandbox that is deleted with its folder. Nothing learned from it is stored. */
  ephemeral: z.optional(z.boolean()),
  /** Whether the profile was written by `sandbox start`, for that sandbox's address only. */
  sandbox: z.optional(z.boolean()),
  guards: z.optional(guardsSchema),
  /** If false, no data of its envelopes is stored on this machine. */
  index: z.optional(z.boolean()),
  /** The SHA-256 (hex) of the certificate that seals the documents of this base URL. */
  pin: z.optional(z.string()),
  /** Whether a download also saves the sealed part of a document that was extended after it was sealed. */
  sealedPart: z.optional(z.boolean()),
  storage: z.optional(storageSchema),
});
export type Profile = z.infer<typeof profileSchema>;

export const profilesFileSchema = z.looseObject({
  format: z.optional(z.unknown()),
  current: z.optional(z.string()),
  profiles: z.optional(z.record(z.string(), profileSchema)),
});

/** The contents of the store: the profiles by name, and the one used by default. */
export interface Profiles {
  current: string | undefined;
  profiles: Record<string, Profile>;
  /** Data in the store that a later version wrote. It is kept. */
  others?: Record<string, unknown> | undefined;
}
