// The parts of the SDK that are used, by name: loaded lazily as a whole, a CommonJS package hides its names in a bundle.
export { GetObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
