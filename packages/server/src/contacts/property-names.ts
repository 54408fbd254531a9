/** Properties that the interface knows; other keys are the caller's own. */
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
const BY_SPELLING = new Map(KNOWN.map((name) => [spellingOf(name), name]))

/**
 * The property that a column of a file or a field of a form means: `First Name`, `first_name` and `firstName` are
 * `firstname`. A name that is none of the known ones is kept as it is, without surrounding white space.
 */
export function propertyNameOf(header: string): string {
  return BY_SPELLING.get(spellingOf(header)) ?? header.trim()
}

function spellingOf(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '')
}
