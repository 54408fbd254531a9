/** Rows per page. */
export const DELIVERIES_LENGTH = 20
