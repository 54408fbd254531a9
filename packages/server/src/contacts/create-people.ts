import { sql } from 'kysely'
import type { Beginning } from '../journal/beginnings.ts'
import { ServiceError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import { lockAll } from '../platform/postgres/locks.ts'
import type { Tenant } from '../platform/tenant.ts'
import { EMAIL, EXTERNAL_ID, survivorsOf } from './aliases.ts'
import { applyWrite, blankContact } from './apply-write.ts'
import { newState, storeStates } from './bulk.ts'
import { createdEvent } from './change.ts'
import { changeContacts, type WriteDependencies } from './change-log.ts'
import { touched } from './first-touch.ts'
import type { PropertyChanges } from './properties.ts'
import { insertSourceRecords, type SourceRecord } from './record-source.ts'

const SOURCE = { source: 'identify', kind: 'identify' } as const

/** A person whom a verified source names by at least one key. */
export interface NamedPerson {
  externalId: string | null
  email: string | null
  properties: PropertyChanges
  /** When and where the person was first seen; null if unknown. */
  beginning: Beginning | null
}

/**
 * Creates contacts for people whose keys are all unknown, in one transaction with a fixed number of statements. The
 * others are left to `identify`, which decides what their keys mean, and says why properties are not allowed.
 * @param people their keys are distinct.
 * @returns those that were created.
 */
export async function createPeople(
  tenant: Tenant,
  dependencies: WriteDependencies,
  people: readonly NamedPerson[],
): Promise<NamedPerson[]> {
  const externalIds = people.flatMap(({ externalId }) => externalId ?? [])
  const emails = people.flatMap(({ email }) => email ?? [])
  const now = dependencies.clock()
  return changeContacts(tenant, dependencies, async (tx, log) => {
    await lockAll(tx.db, 'external_id', tx.id, externalIds)
    const taken = await takenKeys(tx, externalIds, emails)
    const isNew = ({ externalId, email }: NamedPerson) =>
      (externalId === null || !taken.externalIds.has(externalId)) && (email === null || !taken.emails.has(email))
    const created = people.filter(isNew).flatMap((person) => contactOf(person, now) ?? [])
    await storeStates(
      tx,
      SOURCE.source,
      created.map(({ row, record }) => ({ ...newState(row), records: [record] })),
    )
    const touches = created.flatMap(({ row, touch }) => (touch === null ? [] : [[row.contact_id, touch] as const]))
    await insertSourceRecords(tx, new Map(touches))
    for (const { row } of created) {
      log.events.push(createdEvent(row, SOURCE.source, now))
      log.noteChange(row.contact_id, 'everything')
    }
    return created.map(({ person }) => person)
  })
}

/** A contact as an identification and its first touch would leave it; null if the properties are not allowed. */
function contactOf(person: NamedPerson, now: Date) {
  const { externalId, email, properties, beginning } = person
  const blank = blankContact(newId(), externalId, SOURCE.source, now)
  const keys = { ...(externalId === null ? {} : { externalId }), ...(email === null ? {} : { email }) }
  try {
    const named = applyWrite(blank, [], { ...SOURCE, ...keys, properties }, email, now)
    const record = requireRecord(named.record)
    const touch = beginning === null ? null : touched(named.row, [record], beginning, now)
    return { person, row: touch?.row ?? named.row, record, touch: touch?.record ?? null }
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return null
    throw error
  }
}

/** The first write of a source always has one. */
function requireRecord(record: SourceRecord | null): SourceRecord {
  if (record === null) throw new Error('a new contact has no record of its source')
  return record
}

async function takenKeys(tx: Tenant, externalIds: readonly string[], emails: readonly string[]) {
  const [byId, byEmail, ofVisitors] = [
    await tx.db
      .selectFrom('contacts')
      .select('external_id as key')
      .where('external_id', '=', sql<string>`any(${externalIds}::text[])`)
      .execute(),
    await tx.db
      .selectFrom('contacts')
      .select('email as key')
      .where('email', '=', sql<string>`any(${emails}::text[])`)
      .execute(),
    await tx.db
      .selectFrom('visitors')
      .select('external_contact_id as key')
      .where('external_contact_id', '=', sql<string>`any(${externalIds}::text[])`)
      .execute(),
  ]
  const keys = (rows: readonly { key: string | null }[]) => rows.flatMap(({ key }) => key ?? [])
  // After the contacts: see aliases.ts.
  const aliases = {
    externalIds: await survivorsOf(tx, EXTERNAL_ID, externalIds),
    emails: await survivorsOf(tx, EMAIL, emails),
  }
  return {
    externalIds: new Set([...keys(byId), ...keys(ofVisitors), ...aliases.externalIds.keys()]),
    emails: new Set([...keys(byEmail), ...aliases.emails.keys()]),
  }
}
