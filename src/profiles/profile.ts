import * as z from 'zod/mini';

/** Where a customer's bucket is and how to sign for it. Without an access key the AWS default chain is used. */
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

/** Limits on what is written with a profile. */
const guardsSchema = z.looseObject({
  readOnly: z.optional(z.boolean()),
  /** Addresses and patterns; an empty list allows nobody. */
  onlyTo: z.optional(z.array(z.string())),
  maxEmails: z.optional(z.number()),
  confirmName: z.optional(z.boolean()),
});
export type ProfileGuards = z.infer<typeof guardsSchema>;

/** A key, or where it is kept, and where to use it. Exactly one of the three apiKey… is set. */
const profileSchema = z.looseObject({
  baseUrl: z.string(),
  apiKey: z.optional(z.string()),
  apiKeyCommand: z.optional(z.string()),
  /** The account of the keychain that has the key. */
  apiKeyKeychain: z.optional(z.string()),
  insecureHttp: z.optional(z.boolean()),
  /** Of a sandbox that ends with its folder: nothing is learned from it. */
  ephemeral: z.optional(z.boolean()),
  /** Written by `sandbox start`; of no other address than its own. */
  sandbox: z.optional(z.boolean()),
  guards: z.optional(guardsSchema),
  /** False: nothing is kept of its envelopes on this machine. */
  index: z.optional(z.boolean()),
  storage: z.optional(storageSchema),
});
export type Profile = z.infer<typeof profileSchema>;

export const profilesFileSchema = z.looseObject({
  format: z.optional(z.unknown()),
  current: z.optional(z.string()),
  profiles: z.optional(z.record(z.string(), profileSchema)),
});

/** Everything in the store: the profiles by name and which one is used when none is named. */
export interface Profiles {
  current: string | undefined;
  profiles: Record<string, Profile>;
  /** What a later version has written into the store: it stays there. */
  others?: Record<string, unknown> | undefined;
}
