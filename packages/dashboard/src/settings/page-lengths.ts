/** Rows per page. */
export const ERASURES_LENGTH = 20
export const PAGE_LENGTH = 50
export const DOMAINS_LENGTH = 20
