import type { Properties } from './properties.ts'

/** Properties that say how a contact first came: written once and together, by whatever comes first. */
export const FIRST_TOUCH_KEYS: readonly string[] = [
  'first_referrer',
  'first_landing_page',
  'first_utm_source',
  'first_utm_medium',
  'first_utm_campaign',
  'first_utm_term',
  'first_utm_content',
]

/** Whether the first touch is written: what is missing from it stays missing, unless a person adds it. */
export function hasFirstTouch(properties: Properties): boolean {
  return FIRST_TOUCH_KEYS.some((key) => Object.hasOwn(properties, key) && properties[key] !== '')
}
