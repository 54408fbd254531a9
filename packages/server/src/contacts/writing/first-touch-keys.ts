import { sql } from 'kysely'
import type { Properties } from '../properties.ts'

/** Properties of a contact's first touch, written together, once, by the first source. */
export const FIRST_TOUCH_KEYS: readonly string[] = [
  'first_referrer',
  'first_landing_page',
  'first_utm_source',
  'first_utm_medium',
  'first_utm_campaign',
  'first_utm_term',
  'first_utm_content',
]

/** Whether the first touch of a contact is written, as an expression of SQL. */
export const HAS_FIRST_TOUCH = sql<boolean>`(${sql.join(
  FIRST_TOUCH_KEYS.map((key) => sql`coalesce(properties ->> ${key}, '') <> ''`),
  sql` OR `,
)})`

/** Whether the first touch is written. Then only a person can add missing values. */
export function hasFirstTouch(properties: Properties): boolean {
  return FIRST_TOUCH_KEYS.some((key) => Object.hasOwn(properties, key) && properties[key] !== '')
}
