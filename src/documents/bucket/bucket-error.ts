import { type BucketHeaders, headerOf } from './object-headers.ts';

/** The error in a response of the bucket. Its name is the code that the bucket gave it; it may be empty. */
export class BucketError extends Error {
  override readonly name: string;
  readonly status: number;
  /** The region of the bucket, if the response names it. */
  readonly region: string | undefined;
  /** True for an HTML page, which S3 doesn't send. */
  readonly isPage: boolean;

  constructor(
    code: string,
    message: string,
    facts: { status: number; region?: string | undefined; isPage?: boolean },
  ) {
    super(message);
    this.name = code;
    this.status = facts.status;
    this.region = facts.region;
    this.isPage = facts.isPage ?? false;
  }
}

/** Reads the error in a response, which is XML if it is from S3. */
export function bucketErrorOf(status: number, headers: BucketHeaders, body: string): BucketError {
  const textIn = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(body)?.[1]?.trim() ?? '';
  const message = textIn('Message');
  const region =
    headerOf(headers, 'x-amz-bucket-region') ??
    /^[a-z0-9-]{1,40}$/.exec(textIn('Region'))?.[0] ??
    /expecting '([a-z0-9-]+)'/.exec(message)?.[1];
  const isPage = headerOf(headers, 'content-type')?.startsWith('text/html') ?? false;
  return new BucketError(textIn('Code'), message, { status, region, isPage });
}
