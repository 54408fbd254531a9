/** Rows per page. */
export const PAGE_LENGTH = 50
export const MEMBERS_LENGTH = 20
