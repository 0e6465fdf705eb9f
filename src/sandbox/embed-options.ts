/* What a test file passes to a sandbox in its own process. These types, too, stand alone. */

export type SandboxStatus =
  | 'DRAFT'
  | 'SENT'
  | 'IN_PROGRESS'
  | 'COMPLETED'
  | 'CANCELLED'
  | 'EXPIRED'
  | 'DECLINED';
type SignerStatus = 'PENDING' | 'SENT' | 'VIEWED' | 'SIGNED' | 'DECLINED';

/** The initial data of a sandbox. Everything except IDs and names is optional and made up by default. */
export interface SandboxSeed {
  templates?:
    | {
        id: string;
        name: string;
        /** Who signs; one `Signer` without them. */
        roles?: string[] | undefined;
        /** Whether envelopes can be made from it; true without it. */
        active?: boolean | undefined;
        description?: string | undefined;
        /** Number of pages of a template with `fields`. */
        pageCount?: number | undefined;
        /**
         * The fields of another account's template, as its API shows them. The pages are drawn and marked STAND-IN. Fields
         * without a role are dealt out among the roles.
         */
        fields?:
          | {
              fieldId: string;
              type: string;
              label: string;
              required: boolean;
              page: number;
              role?: string | undefined;
            }[]
          | undefined;
        /** Path of a PDF with its pages, relative to the seed's file, or to the current folder without a file. */
        pdf?: string | undefined;
      }[]
    | undefined;
  organisations?: { id: string; name: string }[] | undefined;
  keys?:
    | {
        /** One of `organisations`; the sandbox's own without it. */
        organisation?: string | undefined;
        /** Both, `esign:read` and `esign:write`, without it. */
        scopes?: ('esign:read' | 'esign:write')[] | undefined;
        /** A date, an ISO 8601 timestamp, or `never`. */
        expiresAt?: string | null | undefined;
      }[]
    | undefined;
  envelopes?:
    | {
        id: string;
        /** Of the seed or of the sandbox; the first of the seed, or `tmpl_nda`, without it. */
        template?: string | undefined;
        organisation?: string | undefined;
        /** What the signers' statuses make of it, without it. */
        status?: SandboxStatus | undefined;
        subject?: string | undefined;
        metadata?: Record<string, unknown> | undefined;
        /** A date, an ISO 8601 timestamp, or how long ago: `9d`. */
        createdAt?: string | undefined;
        /** One for each role of the template without them. */
        signers?:
          | {
              /** Made from the name without it. */
              email?: string | undefined;
              name: string;
              role?: string | undefined;
              status?: SignerStatus | undefined;
            }[]
          | undefined;
      }[]
    | undefined;
}

interface Chance {
  /** Probability for each match, 0 to 1. Default: 1. */
  rate?: number | undefined;
  /** The most times it occurs. */
  times?: number | undefined;
  /** How many matches pass first. */
  skip?: number | undefined;
}
interface RequestFault extends Chance {
  /** Method, path below the base URL, or both; a closing `$` ends the path: `POST /esign/envelopes$`. */
  match?: string | undefined;
}
interface EventFault extends Chance {
  /** An event such as `envelope.signed`. */
  match?: SandboxEvent | undefined;
}
interface DocumentFault extends Chance {
  match?: 'signed' | 'certificate' | 'document' | undefined;
}
interface ErrorFault extends RequestFault {
  /** Whether the work is done nevertheless. Default: false. */
  done?: boolean | undefined;
}

/** The events of an envelope. */
export type SandboxEvent =
  | 'envelope.sent'
  | 'envelope.viewed'
  | 'envelope.signed'
  | 'envelope.completed'
  | 'envelope.declined'
  | 'envelope.expired'
  | 'envelope.cancelled';

/** Faults to inject. They affect only requests of the API, never the methods of the sandbox. */
export interface SandboxFaults {
  /** Start of the random numbers: the same seed and requests give the same faults. Default: 1. */
  seed?: number | undefined;
  /** The reply is late by `ms`. */
  delay?: (RequestFault & { ms: number }) | undefined;
  /** The connection is reset before anything is done. */
  reset?: RequestFault | undefined;
  error500?: ErrorFault | undefined;
  /** The HTML error page of a proxy. */
  html502?: ErrorFault | undefined;
  /** The work is done, but the connection closes without a reply. */
  lostReply?: RequestFault | undefined;
  /** The work is done, but the body of the reply is cut short. */
  truncate?: RequestFault | undefined;
  /** A document is not in the bucket yet, for `ms` or a number of `reads`. */
  missingObject?: (DocumentFault & { ms?: number | undefined; reads?: number | undefined }) | undefined;
  /** A sealed document in the bucket was changed; docs/sandbox.md lists the values of `how`. */
  tamperedPaper?: (DocumentFault & { how: string }) | undefined;
  webhooks?:
    | {
        drop?: EventFault | undefined;
        duplicate?: EventFault | undefined;
        /** Held back by `ms` while later events go ahead. */
        reorder?: (EventFault & { ms: number }) | undefined;
        delay?: (EventFault & { ms: number }) | undefined;
        badSignature?: EventFault | undefined;
      }
    | undefined;
}

/** How a sandbox is started; nothing is required. */
export interface StartSandboxOptions {
  /** The initial data, restored by `reset`: a YAML or JSON file, or an object. */
  seed?: SandboxSeed | string | undefined;
  /** Folder for the state. Without it, everything is deleted at the end. */
  dataDir?: string | undefined;
  /** Port of the API; any free one without it. */
  port?: number | undefined;
  /** The time at which the sandbox's clock starts, and from where it continues: a date, ISO 8601 or ms since the epoch. With `frozen`, only `advance` moves it. */
  clock?:
    | Date
    | string
    | number
    | { at?: Date | string | number | undefined; frozen?: boolean | undefined }
    | undefined;
  /** `'counted'`: IDs count up per kind (`env_1`, `signer_1`), as snapshot tests need. Random by default. */
  ids?: 'random' | 'counted' | undefined;
  /** The API key, of 16 to 200 characters; a random one without it. Fixed keys suit settings in files. */
  apiKey?: string | undefined;
  /** Envelopes per calendar month; no limit without it. */
  quota?: number | undefined;
  /** Faults from the start; `reset` restores them. */
  faults?: SandboxFaults | undefined;
  /** How the sandbox reads open points of the API document, by name: `{ 'list-items': 'summary' }`. See docs/sandbox.md. */
  choices?: Record<string, string> | undefined;
  /** Requests per window and key; 10,000 in 15 minutes without it. Also as text: `'40/3s'`. */
  rateLimit?: { requests: number; seconds: number } | string | undefined;
}
