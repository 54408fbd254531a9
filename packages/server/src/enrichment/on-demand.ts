import { setTimeout as sleep } from 'node:timers/promises'
import type { Facts } from '../contacts/writing/facts.ts'
import { readSet } from '../contacts/writing/keys.ts'
import type { Writer } from '../contacts/writing/writer.ts'
import { nameInMailsOf } from '../conversations/name-in-mails.ts'
import { lastPlaceOf } from '../events/last-place.ts'
import type { Logger } from '../platform/log.ts'
import type { Tenant } from '../platform/tenant.ts'
import { MINUTE_MS } from '../platform/time.ts'
import { providerInputs } from './providers/providers.ts'
import { askNow, isQueued, queueContacts } from './providers/queue.ts'
import type { Asked, ProviderServices } from './providers/work.ts'

/** How often a request looks whether another process has asked. */
const POLL_MS = 200

/** What was seen of a contact so far. */
export async function factsOf(tenant: Tenant, contactId: string): Promise<Facts> {
  const [place, nameInMail] = await Promise.all([lastPlaceOf(tenant, contactId), nameInMailsOf(tenant, contactId)])
  return { ...(place ? { place } : {}), ...(nameInMail === null ? {} : { nameInMail }) }
}

/**
 * Asks the built-in enrichers about contacts now, although nothing about them has changed. Those that are gone are left out.
 */
export async function enrichNow(
  tenant: Tenant,
  { writer }: { writer: Pick<Writer, 'write'> },
  factsById: ReadonlyMap<string, Facts>,
): Promise<void> {
  const contactIds = [...factsById.keys()]
  await writer.write(tenant, {
    keys: { contactIds },
    apply(set) {
      for (const [contactId, facts] of factsById) {
        const state = set.contact(contactId)
        if (state) set.addFacts(state, { ...facts, isAsked: true })
      }
    },
  })
}

/** What became of a contact that was enriched now. */
export interface Enriched {
  /**
   * `enriched`: something was filled. `unchanged`: there was nothing new. `waiting`: a provider is asked later, at `retryAt` or by
   * the process that is doing so. `failed`: a provider could not be asked, or its answer not be used, and nothing was filled.
   */
  status: 'enriched' | 'unchanged' | 'waiting' | 'failed'
  /** Why providers could not be asked. */
  failures: Asked['failures']
  retryAt: Date | null
}

/**
 * Enriches contacts now: asks the built-in enrichers, then the providers about one contact after another. What providers are asked
 * later is in the queue, and done by the workers. A contact that is gone is absent.
 */
export async function enrichWithProviders(
  tenant: Tenant,
  services: ProviderServices,
  factsById: ReadonlyMap<string, Facts>,
): Promise<Map<string, Enriched>> {
  const startedAt = services.clock()
  await enrichNow(tenant, services, factsById)
  const contactIds = [...factsById.keys()]
  const asked = new Map<string, Asked | null>()
  if ((await providerInputs(tenant)).size > 0) {
    for (const contactId of contactIds) {
      // The workers leave it to this caller, unless its process dies.
      await queueContacts(tenant, [contactId], new Date(services.clock().getTime() + MINUTE_MS))
      asked.set(contactId, await askNow(tenant, services, contactId))
    }
  }
  const set = await readSet(tenant, [{ contactIds }])
  const contacts = contactIds.flatMap((id) => set.contact(id)?.row ?? [])
  return new Map(
    contacts.map(({ contact_id, enriched_at }): [string, Enriched] => {
      const { failures = [], retryAt = null } = asked.get(contact_id) ?? {}
      const isWaiting = asked.get(contact_id) === null || retryAt !== null
      const isEnriched = enriched_at !== null && enriched_at >= startedAt
      const status = isWaiting ? 'waiting' : isEnriched ? 'enriched' : failures.length > 0 ? 'failed' : 'unchanged'
      return [contact_id, { status, failures, retryAt }]
    }),
  )
}

/** Has providers asked about contacts, if there are any. @returns whether there are. */
export async function queueForProviders(
  tenant: Tenant,
  { clock }: Pick<ProviderServices, 'clock'>,
  contactIds: readonly string[],
): Promise<boolean> {
  if ((await providerInputs(tenant)).size === 0) return false
  await queueContacts(tenant, contactIds, clock())
  return true
}

/**
 * Asks the providers about a queued contact, or waits for the process that is doing so, but not for long: then the rest happens in
 * the background.
 */
export async function askAndWait(
  tenant: Tenant,
  services: ProviderServices & { log: Pick<Logger, 'warn'> },
  contactId: string,
  waitMs: number,
): Promise<void> {
  const endsAt = performance.now() + waitMs
  const asking = askNow(tenant, services, contactId).catch((err: unknown) => {
    services.log.warn({ err }, 'asking enrichment providers failed; retrying shortly')
    return undefined
  })
  const asked = await Promise.race([asking, sleep(waitMs, undefined, { ref: false })])
  while (asked === null && performance.now() < endsAt && (await isQueued(tenant, contactId))) await sleep(POLL_MS)
}
