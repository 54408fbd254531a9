/** Properties that say how a contact first came: written once, by whatever comes first. */
export const FIRST_TOUCH_KEYS: readonly string[] = [
  'first_referrer',
  'first_landing_page',
  'first_utm_source',
  'first_utm_medium',
  'first_utm_campaign',
  'first_utm_term',
  'first_utm_content',
]
