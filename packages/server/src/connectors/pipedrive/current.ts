import type { PropertyValue } from '../../contacts/properties.ts'
import { normalizeEmail } from '../../platform/email.ts'
import { isObject } from '../../platform/is-object.ts'
import { type Client, objectsOf, textOf } from '../client.ts'
import type { CurrentRecord, WriteBackContact } from '../connector.ts'
import { type Fields, personFields } from './fields.ts'
import { targetValue } from './map.ts'
import { hasId, type Item } from './read.ts'

const PERSONS = '/api/v2/persons'
/** The most ids that the list of persons takes. */
const IDS_MAX = 100
/** More persons are not added between a person's creation and its entry in the search index. */
const LATEST = 100

/**
 * Reads the current values of contacts: known persons by id, others by email. The search may not have a person that was
 * added just before, but the list of persons does.
 * https://developers.pipedrive.com/docs/api/v1/Persons#searchPersons and #getPersons
 */
export async function readCurrent(
  client: Client,
  contacts: readonly WriteBackContact[],
  targets: readonly string[],
): Promise<(CurrentRecord | null)[]> {
  const fields = await personFields(client)
  const ids = contacts.flatMap(({ externalId }) => externalId ?? [])
  const emails = contacts.flatMap(({ externalId, email }) => (externalId === null ? (email ?? []) : []))
  const byId = new Map((await personsById(client, ids)).map((item) => [String(item.id), item]))
  const byEmail = await findByEmail(client, emails)
  return contacts.map(({ externalId, email }) => {
    const item = externalId === null ? byEmail.get(email ?? '') : byId.get(externalId)
    return item ? currentOf(item, targets, fields) : null
  })
}

/** The persons with some ids. Those that were deleted are left out. */
export async function personsById(client: Client, ids: readonly string[]): Promise<Item[]> {
  const found: Item[] = []
  for (let from = 0; from < ids.length; from += IDS_MAX) {
    const some = ids.slice(from, from + IDS_MAX)
    const { data } = await client.call({ path: PERSONS, query: { ids: some.join(','), limit: IDS_MAX } })
    found.push(...existing(data))
  }
  return found
}

/** The first person that was added with each address. */
async function findByEmail(client: Client, emails: readonly string[]): Promise<Map<string, Item>> {
  const found = new Map<string, Item>()
  const note = (items: readonly Item[]) => {
    for (const item of items.toSorted((a, b) => Number(a.id) - Number(b.id))) {
      for (const email of emailsOf(item)) if (emails.includes(email) && !found.has(email)) found.set(email, item)
    }
  }
  const ids = new Set<string>()
  for (const term of emails) {
    const query = { term, fields: 'email', exact_match: 'true', limit: LATEST }
    const { data } = await client.call({ path: `${PERSONS}/search`, query })
    for (const { item } of isObject(data) ? objectsOf(data.items) : []) {
      const id = isObject(item) ? textOf(item.id) : null
      if (id !== null) ids.add(id)
    }
  }
  note(await personsById(client, [...ids]))
  if (emails.every((email) => found.has(email))) return found
  const latest = { sort_by: 'add_time', sort_direction: 'desc', limit: LATEST }
  note(existing((await client.call({ path: PERSONS, query: latest })).data))
  return found
}

function existing(data: unknown): Item[] {
  return objectsOf(data)
    .filter(hasId)
    .filter(({ is_deleted }) => is_deleted !== true)
}

function emailsOf({ emails }: Item): string[] {
  return objectsOf(emails).flatMap(({ value }) => {
    const text = textOf(value)
    return text === null ? [] : [normalizeEmail(text)]
  })
}

function currentOf(item: Item, targets: readonly string[], fields: Fields): CurrentRecord {
  const values = targets.flatMap((target) => {
    const value = targetValue(item, fields, target)
    return value === null ? [] : [[target, { text: pipedriveText(target, value), value }] as const]
  })
  return {
    externalId: String(item.id),
    values: new Map(values),
    createdAt: timeOf(item.add_time),
    changedAt: timeOf(item.update_time),
  }
}

/** A value as text: of several options, all labels. */
export function pipedriveText(_: string, value: PropertyValue): string {
  return Array.isArray(value) ? value.join(';') : String(value)
}

export function timeOf(value: unknown): Date | null {
  const time = Date.parse(textOf(value) ?? '')
  return Number.isNaN(time) ? null : new Date(time)
}
