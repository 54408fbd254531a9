/** A person has a few browsers. Many operations on a contact, such as its erasure, process all of its visitors. */
export const VISITORS_MAX = 1_000
/** Anyone can link visitors through a page, so the rest is reserved for the tenant's own systems. */
export const VISITORS_MAX_FROM_PAGES = 500
/**
 * A visitor that is later identified as another contact leaves its events behind, so a contact may have had more
 * visitors than it has now. Every query of its events names all of them: see owners.ts.
 */
export const PAST_VISITORS_FACTOR = 10
/** Where counting visitors whose events belong to a contact stops. */
export const PAST_VISITORS_MAX = VISITORS_MAX * PAST_VISITORS_FACTOR
