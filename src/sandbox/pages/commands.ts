/** A command that creates and sends an envelope from a template that every sandbox has. */
export const CREATE_COMMAND = 'esign envelopes create --template tmpl_nda --signer ada@example.com --send';
