// Apart from the SDK, since only links need it.
export { getSignedUrl } from '@aws-sdk/s3-request-presigner';
