import type { WriteDependencies } from '../../contacts/change-log.ts'
import { createPeople, type NamedPerson } from '../../contacts/create-people.ts'
import { beginningOf } from '../../journal/beginnings.ts'
import type { EventRecord } from '../../journal/event-record.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Person } from './call.ts'
import type { Placed, SenderTrust } from './identify-people.ts'
import type { People } from './people.ts'

/** A call with the event that it will record. */
export type NamingCall = Placed & { record: EventRecord | null }

/**
 * Creates the contacts of people whom no contact matches yet, all in one transaction: one for each would take longer than
 * everything else. People that are known, or whose keys contradict each other, are left to `identifyPeople`.
 * @returns the calls with what remains to be written; null if nobody was created.
 */
export async function createNewPeople(
  tenant: Tenant,
  dependencies: WriteDependencies,
  trust: SenderTrust,
  known: People,
  calls: readonly NamingCall[],
): Promise<Placed[] | null> {
  if (trust === 'unverified') return null
  const people = newPeople(known, calls)
  if (people.size === 0) return null
  const created = new Set(
    await createPeople(
      tenant,
      dependencies,
      [...people.values()].map(({ person }) => person),
    ),
  )
  const written = new Set([...people.values()].flatMap(({ person, index }) => (created.has(person) ? [index] : [])))
  return calls.map(({ index, call }) => ({ index, call: written.has(index) ? { ...call, properties: null } : call }))
}

/** The people with new keys, each with its first call, whose properties are written at once. */
function newPeople(known: People, calls: readonly NamingCall[]): Map<string, { person: NamedPerson; index: number }> {
  const people = new Map<string, { person: NamedPerson; index: number }>()
  const taken = new Set<string>()
  for (const { index, call, record } of calls) {
    const { userId, email, properties, previousId } = call
    const keys = keysOf(call)
    const key = JSON.stringify(keys)
    const events = record === null ? [] : [record]
    const same = people.get(key)
    if (same) same.person.beginning = beginningOf(events, same.person.beginning)
    // An alias, which may be refused.
    const isLeftOut = keys.length === 0 || previousId !== null || isKnown(known, call)
    if (!same && !isLeftOut && !keys.some((each) => taken.has(each))) {
      const person = { externalId: userId, email, properties: properties ?? {}, beginning: beginningOf(events) }
      people.set(key, { person, index })
    }
    for (const each of keys) taken.add(each)
  }
  return people
}

function keysOf({ userId, email }: Person): string[] {
  return [...(userId === null ? [] : [`user ${userId}`]), ...(email === null ? [] : [`email ${email}`])]
}

function isKnown({ byUserId, byEmail }: People, { userId, email }: Person): boolean {
  return (userId !== null && byUserId.has(userId)) || (email !== null && byEmail.has(email))
}
