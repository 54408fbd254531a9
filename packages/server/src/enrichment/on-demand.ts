import { setTimeout as sleep } from 'node:timers/promises'
import { withoutOwnPlace } from '../contacts/own-place.ts'
import type { ContactState } from '../contacts/writing/contact-set.ts'
import type { Facts } from '../contacts/writing/facts.ts'
import type { Writer } from '../contacts/writing/writer.ts'
import { namesInMailsOf } from '../conversations/name-in-mails.ts'
import { lastPlacesOf } from '../events/last-place.ts'
import type { ServiceError } from '../platform/errors.ts'
import type { Logger } from '../platform/log.ts'
import type { Tenant } from '../platform/tenant.ts'
import { NAME } from './name.ts'
import { PLACE } from './place.ts'
import { providerInputs } from './providers/providers.ts'
import { askNow, isQueued, queueContacts } from './providers/queue.ts'
import type { ProviderServices } from './providers/work.ts'
import { readEnrichmentSettings } from './settings.ts'

/** How often a request looks whether another process has asked. */
const POLL_MS = 200

/** What was seen of some contacts so far, as far as an enricher that is on reads it. Each contact has an entry. */
export async function factsOf(tenant: Tenant, contactIds: readonly string[]): Promise<Map<string, Facts>> {
  const { off } = await readEnrichmentSettings(tenant)
  const nothing = Promise.resolve(new Map<string, never>())
  const [places, names] = await Promise.all([
    off.has(PLACE.name) ? nothing : withoutOwnPlace(tenant, contactIds).then((ids) => lastPlacesOf(tenant, ids)),
    off.has(NAME.name) ? nothing : namesInMailsOf(tenant, contactIds),
  ])
  const factsOfEach = contactIds.map((contactId): [string, Facts] => {
    const [place, nameInMail] = [places.get(contactId), names.get(contactId)]
    return [contactId, { ...(place ? { place } : {}), ...(nameInMail === undefined ? {} : { nameInMail }) }]
  })
  return new Map(factsOfEach)
}

/** What became of contacts that were enriched, before the transaction ends. */
export interface Enriched {
  /** The contacts that changed, with what is `stored` and what is now. */
  changed: ContactState[]
  /** Why a contact could not be changed, by its id. */
  refused: ReadonlyMap<string, ServiceError>
  companiesCreated: readonly string[]
}

/**
 * Asks the built-in enrichers about contacts now, although nothing about them has changed. Those that are gone are left out.
 * @param onEnriched called in the transaction of the changes, which nothing else then shares. If it throws, nothing is changed.
 */
export async function enrichNow(
  tenant: Tenant,
  { writer }: { writer: Pick<Writer, 'write'> },
  factsById: ReadonlyMap<string, Facts>,
  onEnriched?: (tx: Tenant, enriched: Enriched, now: Date) => Promise<void>,
): Promise<void> {
  const contactIds = [...factsById.keys()]
  await writer.write(tenant, {
    keys: { contactIds },
    isAlone: onEnriched !== undefined,
    apply(set, { now }) {
      for (const [contactId, facts] of factsById) {
        const state = set.contact(contactId)
        if (state) set.addFacts(state, { ...facts, isAsked: true })
      }
      return { set, now }
    },
    async onStored(tx, { set, now }) {
      const changed = [...set.contacts].filter(({ row, stored }) => stored !== null && row !== stored.row)
      await onEnriched?.(tx, { changed, ...set.enrichment }, now)
    },
  })
}

/** Has providers asked about contacts, if there are any. @returns whether there are. */
export async function queueForProviders(
  tenant: Tenant,
  { clock }: Pick<ProviderServices, 'clock'>,
  contactIds: readonly string[],
  runId: string | null = null,
): Promise<boolean> {
  if ((await providerInputs(tenant)).size === 0) return false
  await queueContacts(tenant, contactIds, clock(), runId)
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
