/** How many rows a page of each list has. */
export const PAGE_LENGTH = 50
export const RUNS_LENGTH = 20
export const CONTACTS_LENGTH = 10
