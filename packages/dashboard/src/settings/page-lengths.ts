/** How many rows a page of each list has. */
export const ERASURES_LENGTH = 20
export const PAGE_LENGTH = 50
export const DOMAINS_LENGTH = 20
