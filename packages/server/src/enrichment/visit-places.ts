import { withoutOwnPlace } from '../contacts/own-place.ts'
import type { SeenPlace } from '../contacts/writing/facts.ts'
import type { Writer } from '../contacts/writing/writer.ts'
import type { EventGroup } from '../journal/event-record.ts'
import { eachAlone, every, type Repeated } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import { HOUR_MS } from '../platform/time.ts'
import { PLACE } from './place.ts'
import type { FindEnrichmentSettings } from './settings.ts'

const EVERY_MS = 2_000
/** Contacts that are written together. */
const CONTACTS_PER_WRITE = 50
/** Contacts whose place is remembered or waits, at most. */
const CONTACTS_MAX = 20_000
/** An event that arrives later than this says nothing of where the person is now. */
const LATE_MS = HOUR_MS

export interface VisitPlaces extends Repeated {
  /** Notes where contacts are, of recorded events. It neither waits nor throws. */
  onRecorded(groups: readonly Pick<EventGroup, 'tenantId' | 'events'>[]): void
}

/**
 * Fills the place of contacts' visits. The visits do not wait for it: the places of the latest seconds are in memory, and a contact
 * that stays where it is costs nothing. What a crash loses comes with the contact's next visit.
 */
export function startVisitPlaces({
  stores,
  writer,
  findSettings,
  log,
}: {
  stores: Stores
  writer: Pick<Writer, 'write'>
  findSettings: FindEnrichmentSettings
  log: Pick<Logger, 'warn'>
}): VisitPlaces {
  /** By tenant and contact. */
  let waiting = new Map<string, Map<string, SeenPlace>>()
  let waitingCount = 0
  /** Where contacts were seen last, by their ids. */
  const handled = new Map<string, string>()

  function note(tenantId: string, contactId: string, place: SeenPlace): void {
    const places = waiting.get(tenantId) ?? new Map<string, SeenPlace>()
    const known = places.get(contactId)
    if (known ? known.at > place.at : waitingCount >= CONTACTS_MAX) return
    if (!known) waitingCount++
    waiting.set(tenantId, places.set(contactId, place))
  }

  function remember(places: ReadonlyMap<string, SeenPlace>): void {
    if (handled.size >= CONTACTS_MAX) handled.clear()
    for (const [contactId, place] of places) handled.set(contactId, textOf(place))
  }

  async function work(): Promise<void> {
    const due = waiting
    waiting = new Map()
    waitingCount = 0
    const failures = await eachAlone([...due], async ([tenantId, places]) => {
      if (stores.closed.has(tenantId)) return
      const tenant = openTenant(stores, tenantId)
      if (!(await findSettings(tenant)).off.has(PLACE.name)) await writePlaces(tenant, writer, places)
      remember(places)
    })
    for (const err of failures)
      log.warn({ err }, 'the places of visits could not be written; the next visits bring them')
  }

  const repeated = every(EVERY_MS, work)
  return {
    onRecorded(groups) {
      for (const { tenantId, events } of groups) {
        for (const event of events) {
          const { country, region, city, owner_id, timestamp } = event
          const isVisit = country !== '' && !event.is_anonymous && !event.is_bot && !event.is_system
          if (!isVisit || event.received_at - timestamp > LATE_MS) continue
          const place = { country, region, city, at: new Date(timestamp) }
          if (handled.get(owner_id) !== textOf(place)) note(tenantId, owner_id, place)
        }
      }
    },
    async stop() {
      await repeated.stop()
      await work()
    },
  }
}

function textOf({ country, region, city }: Pick<SeenPlace, 'country' | 'region' | 'city'>): string {
  return `${country}\n${region}\n${city}`
}

async function writePlaces(
  tenant: Tenant,
  writer: Pick<Writer, 'write'>,
  places: ReadonlyMap<string, SeenPlace>,
): Promise<void> {
  const ids = [...places.keys()]
  for (let from = 0; from < ids.length; from += CONTACTS_PER_WRITE) {
    const contactIds = await withoutOwnPlace(tenant, ids.slice(from, from + CONTACTS_PER_WRITE))
    if (contactIds.length === 0) continue
    await writer.write(tenant, {
      keys: { contactIds },
      apply(set) {
        for (const contactId of contactIds) {
          const [state, place] = [set.contact(contactId), places.get(contactId)]
          if (state && place) set.addFacts(state, { place })
        }
      },
    })
  }
}
