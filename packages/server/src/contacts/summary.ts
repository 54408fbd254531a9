import type { Properties } from './properties.ts'

/**
 * One line for people and language models: name, title, company, industry, location, stage. Not a stable format. Texts
 * are raw customer data and must be escaped when displayed.
 */
export function summaryOf(properties: Properties): string {
  const text = (key: string) => String(properties[key] ?? '').trim()
  const name = [text('firstname'), text('lastname')].filter(Boolean).join(' ')
  const location = [text('city'), text('state'), text('country')].filter(Boolean).join(', ')
  const parts = [
    name || text('email'),
    text('jobtitle'),
    prefixed('at ', text('company')),
    text('industry'),
    location,
    prefixed('Stage: ', text('lifecyclestage')),
  ]
  return parts.filter(Boolean).join(' | ')
}

function prefixed(prefix: string, text: string): string {
  return text === '' ? '' : prefix + text
}
