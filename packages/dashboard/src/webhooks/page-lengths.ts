/** How many rows a page of each list has. */
export const DELIVERIES_LENGTH = 20
