// In a separate module because only links need it.
export { getSignedUrl } from '@aws-sdk/s3-request-presigner';
