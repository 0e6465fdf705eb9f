/** The fields of a signer in the create body. */
export const SIGNER_FIELDS: readonly string[] = ['email', 'name', 'role', 'order'];
