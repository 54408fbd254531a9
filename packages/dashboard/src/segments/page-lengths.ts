/** How many rows a page of each list has. */
export const PAGE_LENGTH = 50
export const MEMBERS_LENGTH = 20
