/** Questions that fit into a URL. Apart, because every page loads the routes, which check it. */
export const QUESTION_LENGTH_MAX = 8_000
