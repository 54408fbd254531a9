/** Properties that the service itself knows, of contacts and companies. */
const KNOWN = [
  'email',
  'firstname',
  'lastname',
  'company',
  'jobtitle',
  'lifecyclestage',
  'lead_status',
  'industry',
  'country',
  'state',
  'city',
  'numberofemployees',
  'annualrevenue',
  'linkedin_url',
  'social_profile_url',
  'company_domain',
]

const BY_PLAIN_NAME = new Map(KNOWN.map((name) => [plainName(name), name]))

/**
 * The property that a form's field, a trait or a file's column means: `firstName`, `First Name` and `first_name` are all
 * `firstname`. A name that the service does not know is kept as it is, trimmed.
 */
export function propertyNameOf(header: string): string {
  return BY_PLAIN_NAME.get(plainName(header)) ?? header.trim()
}

/** Fields under the names of the properties that they mean; of two that mean the same, the exact name wins. */
export function underPropertyNames(fields: Record<string, unknown>): Record<string, unknown> {
  const isExact = ([name]: [string, unknown]) => propertyNameOf(name) === name
  const entries = Object.entries(fields)
  const renamed = entries.filter((entry) => !isExact(entry)).map(([name, value]) => [propertyNameOf(name), value])
  return Object.fromEntries([...renamed, ...entries.filter(isExact)])
}

/** A name without its case, spaces, hyphens and underscores. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '')
}
