/** The path of the bundle that contains the program as one function. */
export const IN_PROCESS_BUNDLE: string;
