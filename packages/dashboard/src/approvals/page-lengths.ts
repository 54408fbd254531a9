/** Rows per page. */
export const PAGE_LENGTH = 20
