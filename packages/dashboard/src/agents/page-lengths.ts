/** Rows per page. */
export const PAGE_LENGTH = 50
export const RUNS_LENGTH = 20
export const CONTACTS_LENGTH = 10
