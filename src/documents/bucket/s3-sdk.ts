// Re-exports the parts of the SDK that are used. If a CommonJS package is loaded lazily as a whole, its names aren't visible in a bundle.
export { GetObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
export { fromHttp } from '@aws-sdk/credential-provider-http';
export { fromIni } from '@aws-sdk/credential-provider-ini';
export { defaultProvider } from '@aws-sdk/credential-provider-node';
export { getSignedUrl } from '@aws-sdk/s3-request-presigner';
export {
  externalDataInterceptor,
  getHomeDir,
  loadSsoSessionData,
  parseKnownFiles,
} from '@smithy/core/config';
