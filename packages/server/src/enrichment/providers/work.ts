import { readTenant } from '../../access/tenants.ts'
import { knownContacts } from '../../contacts/read.ts'
import type { Writer } from '../../contacts/writing/writer.ts'
import { applyToAnswer } from '../../hooks/apply-mapping.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { JsonApi } from '../../platform/outbound/json-api.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { type KeptAnswer, keepAnswer, keptAnswer, newAnswer, noteFailed, noteFilled } from './answers.ts'
import { ask, type Failure } from './ask.ts'
import { blanksFor, fill, readKnown } from './fill.ts'
import { enabledProviders, type Provider } from './providers.ts'
import { type Question, questionAbout } from './question.ts'
import { noteAnswer, noteFailure, permit } from './usage.ts'

/** What asking providers needs. */
export interface ProviderServices {
  secrets: SecretBox
  connecting: { connectorApi: JsonApi; connectorUrls: Readonly<Record<string, string>> }
  writer: Pick<Writer, 'write'>
  clock: Clock
}

/** What became of a contact. */
export interface Asked {
  /** What was filled, by the names in `fills`. */
  filled: string[]
  /** Why a provider could not be asked, or its answer not be used. */
  failures: { provider: string; code: string; message: string }[]
  /** When it is worth asking again; null: everything was asked. */
  retryAt: Date | null
  /** Whether that is only because a provider's limit of rate is reached, which says nothing about the contact. */
  isOverRate: boolean
}

/** Whom to ask about, and the run on whose behalf; null for none. */
interface About {
  contactId: string
  runId: string | null
}

/**
 * Asks the providers about a contact, one after another, each only while something that it could fill is blank. Its claim must be
 * held meanwhile, so that nobody asks the same.
 */
export async function askProviders(
  tenant: Tenant,
  services: ProviderServices,
  { contactId, runId }: About,
  lost?: AbortSignal,
): Promise<Asked> {
  const asked: Asked = { filled: [], failures: [], retryAt: null, isOverRate: false }
  const providers = await enabledProviders(tenant, services)
  if (providers.length === 0) return asked
  const sources = providers.map(({ source }) => source)
  for (const provider of providers) {
    lost?.throwIfAborted()
    const known = await readKnown(tenant, contactId, sources)
    if (known === null) break
    if (blanksFor(provider, known).length === 0) continue
    const question = questionAbout(provider.request, known, provider.secrets)
    if (question === null) continue
    const got = await answerTo(tenant, services, provider, contactId, question)
    if ('overRateUntil' in got) return { ...asked, retryAt: got.overRateUntil, isOverRate: true }
    if ('failure' in got) {
      const { code, message, retryAt } = got.failure
      asked.failures.push({ provider: provider.name, code, message })
      if (retryAt !== null && (asked.retryAt === null || retryAt > asked.retryAt)) asked.retryAt = retryAt
      await noteFailedOf(tenant, provider, contactId, got.failure, services.clock())
      continue
    }
    const used = await use(tenant, services, provider, { contactId, runId }, sources, got)
    if (Array.isArray(used)) asked.filled.push(...used)
    else asked.failures.push({ provider: provider.name, ...used })
  }
  return asked
}

type Got =
  | (KeptAnswer & { isNew: boolean })
  | { overRateUntil: Date }
  | { failure: Pick<Failure, 'code' | 'message'> & { retryAt: Date | null } }

/** The answer to a question: one that was given before, or a new one. */
async function answerTo(
  tenant: Tenant,
  services: ProviderServices,
  provider: Provider,
  contactId: string,
  question: Question,
): Promise<Got> {
  const kept = await keptAnswer(tenant, provider, question, services.clock())
  if (kept !== null) {
    if (await isThere(tenant, contactId)) await keepAnswer(tenant, provider, contactId, question, kept)
    return { ...kept, isNew: false }
  }
  const { timeZone } = await readTenant(tenant)
  const permitted = await permit(tenant, provider, timeZone, services.clock())
  if (!permitted.may) {
    if (permitted.why === 'rate') return { overRateUntil: permitted.until }
    if (permitted.why === 'budget') {
      return { failure: { ...BUDGET_USED, retryAt: null } }
    }
    return { failure: { ...PAUSED, retryAt: permitted.until } }
  }
  const reply = await ask(services.connecting.connectorApi, provider.kind, question, provider.secrets, services.clock())
  const now = services.clock()
  if ('failure' in reply) {
    const { failure } = reply
    await noteFailure(tenant, provider.providerId, failure, now)
    return { failure: { ...failure, retryAt: failure.isOfProvider ? (failure.pauseUntil ?? now) : null } }
  }
  const answer = newAnswer(provider, reply.answer, now)
  if (await isThere(tenant, contactId)) await keepAnswer(tenant, provider, contactId, question, answer)
  return { ...answer, isNew: true }
}

export const BUDGET_USED = {
  code: 'provider_budget_used',
  message: 'The monthly budget of this provider is used up. Raise it, or enrich the contact next month.',
}
export const PAUSED = { code: 'provider_paused', message: 'The provider failed repeatedly and is asked again later.' }

/** Fills a contact from an answer. @returns what was filled, or why the answer could not be used. */
async function use(
  tenant: Tenant,
  services: ProviderServices,
  provider: Provider,
  { contactId, runId }: About,
  sources: readonly string[],
  { answer, answeredAt, isNew }: KeptAnswer & { isNew: boolean },
): Promise<string[] | { code: string; message: string }> {
  try {
    const found = answer === null ? null : applyToAnswer(provider.mapping, answer)
    // The provider took its time: somebody may have filled the blanks.
    const known = found === null ? null : await readKnown(tenant, contactId, sources)
    const filled =
      found && known
        ? await fill(tenant, services, provider, { contactId, runId, known, found, answer, answeredAt })
        : []
    if (isNew) await noteAnswer(tenant, provider.providerId, filled.length > 0)
    await noteFilled(tenant, provider, contactId, filled, services.clock())
    return filled
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error
    if (isNew) await noteAnswer(tenant, provider.providerId, false)
    const { code, message } = error
    await noteFailedOf(tenant, provider, contactId, error, services.clock())
    return { code, message }
  }
}

async function noteFailedOf(
  tenant: Tenant,
  provider: Provider,
  contactId: string,
  failure: Pick<Failure, 'code' | 'message'>,
  now: Date,
): Promise<void> {
  if (await isThere(tenant, contactId)) await noteFailed(tenant, provider, contactId, failure, now)
}

/** Whether a contact has not been deleted or merged meanwhile. */
async function isThere(tenant: Tenant, contactId: string): Promise<boolean> {
  return (await knownContacts(tenant, [contactId])).has(contactId)
}
