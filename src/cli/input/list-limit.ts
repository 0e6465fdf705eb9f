/** The number of items in a list, both for commands and for the tools of an assistant. */
export const LIST_LIMIT = 20;
