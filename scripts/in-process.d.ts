/** Where the program as one function lies. */
export const IN_PROCESS_BUNDLE: string;
