/** Rows per page, which the loaders and the pages must agree on. */
export const IMPORTS_LENGTH = 20
export const KEPT_LENGTH = 20
