/*
 * Checks of computed properties commit together with what makes them necessary: events, links of their owners, and changes of
 * contacts. `addChecks` adds them in a transaction that changes something else too, `prepareChecks` to a flush of the group
 * commit.
 */

import { CompiledQuery, sql } from 'kysely'
import { meetsAll } from '../conditions/in-memory.ts'
import type { EventMatch } from '../conditions/language.ts'
import type { Outbox } from '../contacts/writing/transaction.ts'
import { type EventRecord, NOBODY } from '../journal/event-record.ts'
import type { PreparePart } from '../journal/group-commit.ts'
import { evenIfClosed } from '../platform/closed-tenants.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import { matchesEvent } from '../segments/check-queue.ts'
import type { Entity, OfEvents } from './definition.ts'
import { type ComputedOfTenant, type FindComputed, ofEvents } from './definitions.ts'

/** A visitor may be identified by a transaction that is under way: its events are looked at after it. */
const UNDER_WAY_SECONDS = 5

/** An owner of events whose contact must be checked. */
interface Concerned {
  tenantId: string
  ownerId: string
  isAnonymous: boolean
}

/** The events that some properties are computed of, and those that the rules of scores are about. */
interface Meant {
  definitions: readonly OfEvents[]
  ofScores: readonly EventMatch[]
}

/** The owners of those of a tenant's events that some properties depend on, each once. */
function concernedBy(events: readonly EventRecord[], { definitions, ofScores }: Meant): Concerned[] {
  const concerned = new Map<string, Concerned>()
  for (const event of events) {
    const { owner_id: ownerId, tenant_id: tenantId, is_anonymous: isAnonymous, received_at: at } = event
    if (ownerId === NOBODY || concerned.has(ownerId)) continue
    const isComputed =
      definitions.some(({ event: name, where = [] }) => name === event.event && meetsAll(event, where, new Date(at))) ||
      ofScores.some((match) => matchesEvent(match, event.event))
    if (isComputed) concerned.set(ownerId, { tenantId, ownerId, isAnonymous })
  }
  return [...concerned.values()]
}

/** @returns null if nothing depends on events. */
function meantBy({ properties, scorings }: ComputedOfTenant): Meant | null {
  const computed = [...ofEvents(properties, 'contacts'), ...ofEvents(properties, 'companies')]
  const ofScores = [...scorings.contacts.events, ...scorings.companies.events]
  if (computed.length + ofScores.length === 0) return null
  return { definitions: computed.map(({ definition }) => definition), ofScores }
}

/**
 * Adds the checks that some events ask for in the caller's transaction, and those of contacts that got owners.
 * @param ownerLinks rows of that table that changed in the same transaction.
 */
export async function addChecks(
  tx: Tenant,
  findComputed: FindComputed,
  records: readonly EventRecord[],
  ownerLinks: readonly object[],
): Promise<void> {
  if (records.length === 0 && ownerLinks.length === 0) return
  const meant = meantBy(await findComputed(tx))
  if (meant === null) return
  const linked = (ownerLinks as readonly { contact_id: string }[]).map(({ contact_id }) => contact_id)
  const concerned = [
    ...concernedBy(records, meant),
    ...[...new Set(linked)].map((ownerId) => ({ tenantId: tx.id, ownerId, isAnonymous: false })),
  ]
  if (concerned.length === 0) return
  const query = CompiledQuery.raw(`WITH ${insertChecks(1)} SELECT count(*) FROM computing`, valuesOf(concerned))
  await tx.unrestricted.executeQuery(query)
}

/** Adds the checks that the events of a flush ask for, in the statement of the flush. */
export function prepareChecks(stores: Stores, findComputed: FindComputed): PreparePart {
  return async (tenantIds) => {
    const found: [string, Meant][] = []
    for (const tenantId of tenantIds) {
      // Even of a closed tenant, whose last events may be written together with those of others.
      const meant = meantBy(await findComputed(openTenant(evenIfClosed(stores), tenantId)))
      if (meant !== null) found.push([tenantId, meant])
    }
    return (events) => {
      const concerned = found.flatMap(([tenantId, meant]) =>
        concernedBy(
          events.filter((event) => event.tenant_id === tenantId),
          meant,
        ),
      )
      return concerned.length === 0 ? null : { name: 'compute', sql: insertChecks, values: valuesOf(concerned) }
    }
  }
}

/** The common table expression that inserts checks of the owners of events, for one tenant or for all. */
function insertChecks(firstParameter: number): string {
  const columns = ['uuid', 'uuid', 'boolean'].map((type, index) => `$${firstParameter + index}::${type}[]`)
  return `computing AS (
      INSERT INTO computed_checks (tenant_id, entity, record_id, is_anonymous, due_at)
      SELECT tenant_id, 'contacts', owner_id, is_anonymous,
        now() + CASE WHEN is_anonymous THEN interval '${UNDER_WAY_SECONDS} seconds' ELSE interval '0' END
      FROM unnest(${columns.join(', ')}) AS concerned (tenant_id, owner_id, is_anonymous)
      RETURNING 1
    )`
}

function valuesOf(concerned: readonly Concerned[]): unknown[] {
  return [
    concerned.map(({ tenantId }) => tenantId),
    concerned.map(({ ownerId }) => ownerId),
    concerned.map(({ isAnonymous }) => isAnonymous),
  ]
}

/**
 * Has new, merged and restored contacts checked: what is computed of nothing is a value too; and those of which something
 * changes that scores use.
 */
export function createComputedChecks(findComputed: FindComputed): Outbox {
  return {
    note: async (tx, changed) => {
      if (changed.size === 0) return
      const { properties, scorings } = await findComputed(tx)
      if (properties.length === 0) return
      const { reads } = scorings.contacts
      const ids = [...changed].flatMap(([contactId, keys]) =>
        keys === 'everything' || !reads.isDisjointFrom(keys) ? contactId : [],
      )
      await queueChecks(tx, 'contacts', ids)
    },
  }
}

/** Queues records for a check by any process. */
export async function queueChecks(tx: Tenant, entity: Entity, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const records = tx.db
    .selectNoFrom(sql<string>`unnest(${[...new Set(ids)]}::uuid[])`.as('record_id'))
    .select(sql<string>`${entity}`.as('entity'))
  await tx.db
    .insertInto('computed_checks')
    .columns(['record_id', 'entity'])
    .expression(() => records)
    .execute()
}
