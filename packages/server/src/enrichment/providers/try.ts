import { readTenant } from '../../access/tenants.ts'
import { missingContact } from '../../contacts/aliases.ts'
import type { Properties } from '../../contacts/properties.ts'
import { blankContact } from '../../contacts/writing/apply.ts'
import { applyToAnswer } from '../../hooks/apply-mapping.ts'
import { parseEmail } from '../../platform/email.ts'
import { type ErrorDetail, ServiceError, validationError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { ask } from './ask.ts'
import { type Filling, fillingOf, type Known, readKnown } from './fill.ts'
import { findProvider, type Provider } from './providers.ts'
import { questionAbout } from './question.ts'
import { noteAnswer, noteFailure, permit } from './usage.ts'
import { BUDGET_USED, PAUSED, type ProviderServices } from './work.ts'

/** What a test of a provider shows. */
interface Tried {
  outcome: 'found' | 'nothing' | 'not_asked' | 'failed'
  error: { code: string; message: string } | null
  properties: Properties
  company: { domain: string | null; name: string | null; properties: Properties } | null
  problems: ErrorDetail[]
  response: unknown
}

const NOTHING: Tried = { outcome: 'nothing', error: null, properties: {}, company: null, problems: [], response: null }
const OVER_RATE = {
  code: 'provider_rate_limit_reached',
  message: 'requests_per_minute of this provider is reached. Try again in a minute.',
}

/**
 * Asks a provider about a contact, or about somebody with an address, without the cache. Nothing is filled.
 * @throws ServiceError 400, 404 `not_found`, `contact_merged`.
 */
export async function tryProvider(
  tenant: Tenant,
  services: ProviderServices,
  providerId: string,
  about: { contactId: string | undefined; email: string | undefined },
): Promise<Tried> {
  const provider = await findProvider(tenant, services, providerId)
  const known = await knownOf(tenant, provider, about, services.clock())
  const question = questionAbout(provider.request, known, provider.secrets)
  if (question === null) return { ...NOTHING, outcome: 'not_asked' }
  const { timeZone } = await readTenant(tenant)
  const permitted = await permit(tenant, provider, timeZone, services.clock())
  if (!permitted.may) {
    const error = { budget: BUDGET_USED, rate: OVER_RATE, paused: PAUSED }[permitted.why]
    return { ...NOTHING, outcome: 'failed', error }
  }
  const { connectorApi } = services.connecting
  const reply = await ask(connectorApi, provider.kind, question, provider.secrets, services.clock())
  if ('failure' in reply) {
    const { code, message } = reply.failure
    await noteFailure(tenant, provider.providerId, reply.failure, services.clock())
    return { ...NOTHING, outcome: 'failed', error: { code, message } }
  }
  await noteAnswer(tenant, provider.providerId, false)
  return seen(provider, known, reply.answer)
}

function seen(provider: Provider, known: Known, answer: unknown): Tried {
  try {
    const found = answer === null ? null : applyToAnswer(provider.mapping, answer)
    if (found === null) return { ...NOTHING, response: answer }
    const shown = shownOf(fillingOf(provider, known, found))
    return { outcome: 'found', error: null, ...shown, problems: found.problems, response: answer }
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error
    return { ...NOTHING, outcome: 'failed', error: { code: error.code, message: error.message }, response: answer }
  }
}

/** What would be filled, as the response has it. */
function shownOf(filling: Filling): Pick<Tried, 'properties' | 'company'> {
  const { company_id: domain, 'company.name': name, ...rest } = filling
  const ofCompany = (key: string) => key.startsWith('company.')
  const pick = (isPicked: (key: string) => boolean) =>
    Object.fromEntries(Object.entries(rest).filter(([key]) => isPicked(key))) as Properties
  const properties = Object.fromEntries(
    Object.entries(pick(ofCompany)).map(([key, value]) => [key.slice('company.'.length), value]),
  )
  const isFilled = domain !== undefined || name !== undefined || Object.keys(properties).length > 0
  const company = {
    domain: (domain as string | undefined) ?? null,
    name: (name as string | undefined) ?? null,
    properties,
  }
  return { properties: pick((key) => !ofCompany(key)), company: isFilled ? company : null }
}

async function knownOf(
  tenant: Tenant,
  { source }: Provider,
  { contactId, email: sent = '' }: { contactId: string | undefined; email: string | undefined },
  now: Date,
): Promise<Known> {
  if (contactId !== undefined) {
    const known = await readKnown(tenant, contactId.toLowerCase(), [source])
    if (known === null) throw await missingContact(tenant, contactId)
    return known
  }
  const email = parseEmail(sent)
  if (email === null) throw validationError([{ path: 'email', message: 'is not a valid email address' }])
  const row = { ...blankContact(newId(), source, now), email }
  return { contents: { row, records: [] }, contact: row, company: null }
}
