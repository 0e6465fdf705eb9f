/** The customer's bucket and its credentials; without an access key, the AWS default chain is used. */
export interface BucketSettings {
  bucket?: string | undefined;
  region?: string | undefined;
  endpoint?: string | undefined;
  /** True by default if an endpoint is set. */
  pathStyle?: boolean | undefined;
  awsProfile?: string | undefined;
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
}
