/** Items of a list, here and in the tools of an assistant. */
export const LIST_LIMIT = 20;
