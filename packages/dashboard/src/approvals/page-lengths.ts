/** How many rows a page of each list has. */
export const PAGE_LENGTH = 20
