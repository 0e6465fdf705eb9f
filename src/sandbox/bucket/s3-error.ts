/** An error of the S3 API. Clients act on its code. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly code: S3ErrorCode;
  readonly status: number;
  /** The bucket's region, if the client used another one. */
  readonly region: string | undefined;

  constructor(code: S3ErrorCode, message: string, region?: string) {
    super(message);
    this.code = code;
    this.status = STATUS[code];
    this.region = region;
  }
}

const STATUS = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidRange: 416,
  InvalidURI: 400,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NotImplemented: 501,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
} as const;

type S3ErrorCode = keyof typeof STATUS;
