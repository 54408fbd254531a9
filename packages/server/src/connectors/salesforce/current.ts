import type { PropertyValue } from '../../contacts/properties.ts'
import { normalizeEmail } from '../../platform/email.ts'
import { type Client, textOf } from '../client.ts'
import type { CurrentRecord, WriteBackContact } from '../connector.ts'
import { fieldsOf } from './fields.ts'
import { fieldOf } from './map.ts'
import { query, type SalesforceRecord } from './query.ts'

/** The kinds of records that are contacts here. A contact of Salesforce comes before a lead with the same address. */
export type Person = 'Contact' | 'Lead'
const PEOPLE: readonly Person[] = ['Contact', 'Lead']
/** Salesforce's ids begin with the kind of record. */
const LEAD_PREFIX = '00Q'
/** Keeps the URL of a query below the 16,384 bytes that Salesforce accepts. */
const KEYS_PER_QUERY = 100
/** How often a record may have been merged or converted into the next one. */
const SUCCESSORS_MAX = 5
const ABOUT_RECORD = [
  'Id',
  'Email',
  'CreatedDate',
  'SystemModstamp',
  'IsDeleted',
  'MasterRecordId',
  'IsConverted',
  'ConvertedContactId',
]

interface Found {
  person: Person
  record: SalesforceRecord
}

export function personOfId(id: string): Person {
  return id.startsWith(LEAD_PREFIX) ? 'Lead' : 'Contact'
}

/**
 * Reads the current values of contacts: known contacts and leads by id, others by email. A query sees every record that was
 * saved before, so a contact that was created just before is found.
 * https://developer.salesforce.com/docs/atlas.en-us.soql_sosl.meta/soql_sosl/
 */
export async function readCurrent(
  client: Client,
  contacts: readonly WriteBackContact[],
  targets: readonly string[],
): Promise<(CurrentRecord | null)[]> {
  const ids = contacts.flatMap(({ externalId }) => externalId ?? [])
  const emails = contacts.flatMap(({ externalId, email }) => (externalId === null ? (email ?? []) : []))
  const byId = await findById(client, ids, targets)
  const byEmail = await findByEmail(client, emails, targets)
  return Promise.all(
    contacts.map(async ({ externalId, email }) => {
      const found = externalId === null ? byEmail.get(email ?? '') : byId.get(externalId)
      return found ? currentOf(client, found, targets) : null
    }),
  )
}

/** The records by the ids that they were asked by: a record that was merged or converted leads to the one it became. */
async function findById(
  client: Client,
  ids: readonly string[],
  targets: readonly string[],
): Promise<Map<string, Found>> {
  const found = new Map<string, Found>()
  let asked = new Map(ids.map((id) => [id, [id]]))
  for (let step = 0; asked.size > 0 && step < SUCCESSORS_MAX; step++) {
    const next = new Map<string, string[]>()
    for (const [person, some] of Map.groupBy(asked.keys(), personOfId)) {
      for (const record of await selectPeople(client, person, targets, { field: 'Id', keys: some })) {
        const from = asked.get(String(record.Id)) ?? []
        const successor = successorOf(record)
        if (successor !== null) next.set(successor, [...(next.get(successor) ?? []), ...from])
        else if (record.IsDeleted !== true) for (const id of from) found.set(id, { person, record })
      }
    }
    asked = next
  }
  return found
}

function successorOf({ IsDeleted, MasterRecordId, IsConverted, ConvertedContactId }: SalesforceRecord): string | null {
  if (IsDeleted === true) return textOf(MasterRecordId)
  return IsConverted === true ? textOf(ConvertedContactId) : null
}

/** The oldest contact with each address; the oldest open lead where there is none. */
async function findByEmail(
  client: Client,
  emails: readonly string[],
  targets: readonly string[],
): Promise<Map<string, Found>> {
  const found = new Map<string, Found>()
  for (const person of PEOPLE) {
    const keys = emails.filter((email) => !found.has(email))
    for (const record of await selectPeople(client, person, targets, { field: 'Email', keys })) {
      const email = normalizeEmail(textOf(record.Email) ?? '')
      if (record.IsConverted !== true && !found.has(email)) found.set(email, { person, record })
    }
  }
  return found
}

/**
 * Records by some keys, oldest first, with the fields of the targets that the user may see. Deleted ones are included if they
 * are asked for by id.
 */
export async function selectPeople(
  client: Client,
  person: Person,
  targets: readonly string[],
  { field, keys }: { field: 'Id' | 'Email'; keys: readonly string[] },
): Promise<SalesforceRecord[]> {
  const fields = await fieldsOf(client, person)
  if (fields === null) return []
  const { types } = fields
  const wanted = [...ABOUT_RECORD, ...targets.map((target) => fieldOf(person, target))]
  const names = [...new Set(wanted)].filter((name) => types.has(name))
  const found: SalesforceRecord[] = []
  for (let from = 0; from < keys.length; from += KEYS_PER_QUERY) {
    const list = keys
      .slice(from, from + KEYS_PER_QUERY)
      .map(quoted)
      .join(', ')
    const soql = `SELECT ${names.join(', ')} FROM ${person} WHERE ${field} IN (${list}) ORDER BY CreatedDate`
    let page = await query(client, { soql, isAll: field === 'Id' }, types)
    found.push(...page.records)
    while (page.next !== null) {
      page = await query(client, page.next, types)
      found.push(...page.records)
    }
  }
  return found
}

/** A text as a SOQL literal. */
function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}

async function currentOf(
  client: Client,
  { person, record }: Found,
  targets: readonly string[],
): Promise<CurrentRecord> {
  const writable = (await fieldsOf(client, person))?.writable
  const values = targets.flatMap((target) => {
    const value = record[fieldOf(person, target)] ?? null
    return value === null ? [] : [[target, { text: salesforceText(target, value), value }] as const]
  })
  return {
    externalId: String(record.Id),
    values: new Map(values),
    lacks: new Set(targets.filter((target) => !writable?.has(fieldOf(person, target)))),
    createdAt: timeOf(record.CreatedDate),
    changedAt: timeOf(record.SystemModstamp),
  }
}

/** A value as Salesforce stores it: several choices are one text. */
export function salesforceText(_: string, value: PropertyValue): string {
  return Array.isArray(value) ? value.join(';') : String(value)
}

export function timeOf(value: unknown): Date | null {
  const time = Date.parse(textOf(value) ?? '')
  return Number.isNaN(time) ? null : new Date(time)
}
