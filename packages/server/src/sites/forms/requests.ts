import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { parseCompanyDomain } from '../../companies/domain.ts'
import { checkProperties, type Properties } from '../../contacts/properties.ts'
import { underPropertyNames } from '../../contacts/property-names.ts'
import { flattenTraits } from '../../contacts/traits.ts'
import { EVENT_TEXT_LENGTH_MAX } from '../../journal/event-record.ts'
import { hasMoreCharacters, shown } from '../../platform/characters.ts'
import { parseEmail } from '../../platform/email.ts'
import { type ErrorDetail, validationError } from '../../platform/errors.ts'
import { isStorableText } from '../../platform/http/json-body.ts'
import { ID_LENGTH_MAX } from '../../platform/ids.ts'
import { NONE_IGNORED, namesNobody } from '../../platform/ids-of-nobody.ts'
import type { Place } from '../../platform/places.ts'
import { browserOf } from '../ingestion/event-fields.ts'
import { hintsOf } from '../track/client-hints.ts'
import { sendingHost } from '../track/location.ts'
import { sessionOf } from '../track/session.ts'
import type { FormSubmission, Page } from './submit.ts'

const Fields = Type.Record(Type.String(), Type.Unknown(), { 'x-expected': 'an object of fields' })

/** Body of a form submission. */
export const FormSubmissionBody = Type.Object(
  {
    visitor_id: Type.Optional(Type.String({ maxLength: ID_LENGTH_MAX })),
    contact_data: Type.Unsafe<Record<string, unknown>>({
      ...Fields,
      description:
        'What the person filled in; email is required. Names may be in camel case; `address: {city}` becomes `address.city`.',
      examples: [{ email: 'ada@example.com', firstName: 'Ada' }],
    }),
    company_data: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...Fields,
        description: 'The company. Its domain is required, unless every field is blank.',
        examples: [{ domain: 'analytical.example', name: 'Analytical Engines' }],
      }),
    ),
  },
  { additionalProperties: false },
)

/** The browser that sent a submission. */
interface Sender extends Pick<FastifyRequest, 'headers'> {
  place: Place
}

/**
 * Maps a submission to property names. @returns it, with warnings that name what was left out.
 * @throws ServiceError 400 that names every invalid field.
 */
export function parseSubmission(
  formId: string,
  body: Type.Static<typeof FormSubmissionBody>,
  { headers, place }: Sender,
): FormSubmission & { warnings: string[] } {
  if (formId === '' || hasMoreCharacters(formId, ID_LENGTH_MAX) || !isStorableText(formId)) {
    throw validationError([{ path: 'form_id', message: `must be 1 to ${ID_LENGTH_MAX} characters, without NUL` }])
  }
  const details: ErrorDetail[] = []
  const { email: sentEmail, ...properties } = toProperties(body.contact_data)
  const email = typeof sentEmail === 'string' ? parseEmail(sentEmail) : null
  if (sentEmail === undefined) details.push({ path: 'contact_data.email', message: 'is required' })
  else if (email === null) details.push({ path: 'contact_data.email', message: 'is not a valid email address' })
  details.push(...within('contact_data', checkProperties(properties)))
  const warnings: string[] = []
  const company = parseCompany(toProperties(body.company_data ?? {}), details, warnings)
  if (email === null || details.length > 0) throw validationError(details)
  const visitorId = body.visitor_id || null
  return {
    formId,
    visitorId,
    email,
    properties: properties as Properties,
    company,
    page: { ...pageOf(headers), place },
    warnings,
  }
}

function pageOf(headers: FastifyRequest['headers']): Omit<Page, 'place'> {
  return {
    url: (headers.referer ?? headers.origin ?? '').slice(0, EVENT_TEXT_LENGTH_MAX),
    pageHost: sendingHost(headers),
    sessionId: sessionOf(headers.cookie) ?? '',
    ...browserOf(headers['user-agent'], hintsOf(headers)),
  }
}

function parseCompany(
  data: Record<string, unknown>,
  details: ErrorDetail[],
  warnings: string[],
): FormSubmission['company'] {
  if (Object.keys(data).length === 0) return null
  const { domain: sentDomain, name, ...properties } = data
  // People type "none", and hidden fields contain "undefined": neither may lose the lead.
  if (typeof sentDomain === 'string' && namesNobody(sentDomain, NONE_IGNORED)) {
    warnings.push(
      `ignored_id: company_data.domain ${JSON.stringify(shown(sentDomain))} names no company. company_data was ignored.`,
    )
    return null
  }
  const domain = typeof sentDomain === 'string' ? parseCompanyDomain(sentDomain) : null
  if (domain === null) {
    const message = sentDomain === undefined ? 'is required' : 'is not a domain like example.com'
    details.push({ path: 'company_data.domain', message })
  }
  if (name !== undefined && typeof name !== 'string') {
    details.push({ path: 'company_data.name', message: 'must be a string' })
  }
  details.push(...within('company_data', checkProperties(properties)))
  return domain === null
    ? null
    : {
        domain,
        ...(typeof name === 'string' && name.trim() ? { name: name.trim() } : {}),
        properties: properties as Properties,
      }
}

/** Drops blank fields, which must not erase stored values. */
function toProperties(data: Record<string, unknown>): Record<string, unknown> {
  const filled = Object.entries(flattenTraits(data)).filter(([, value]) => !isBlank(value))
  return underPropertyNames(Object.fromEntries(filled))
}

function isBlank(value: unknown): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '')
}

function within(place: string, details: ErrorDetail[]): ErrorDetail[] {
  return details.map(({ path, message }) => ({ path: path.replace(/^properties/, place), message }))
}
