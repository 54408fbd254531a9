import { normalizeEmail } from '../../platform/email.ts'
import { type Client, textOf } from '../client.ts'
import type { CurrentRecord, WriteBackContact } from '../connector.ts'
import { type Item, readBatch, readTypes } from './api.ts'
import { mergedIds, readValue, timeOf } from './map.ts'

/** The properties that identify a contact. For a merged contact, HubSpot returns the surviving record. */
const KEYS = ['email', 'hs_additional_emails', 'hs_merged_object_ids', 'hs_calculated_merged_vids']

/**
 * Reads the current values of contacts: known contacts by id, others by email.
 * https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/batch
 */
export async function readCurrent(
  client: Client,
  contacts: readonly WriteBackContact[],
  targets: readonly string[],
): Promise<(CurrentRecord | null)[]> {
  const types = await readTypes(client)
  const properties = [...new Set([...targets, ...KEYS, 'lastmodifieddate'])]
  const ids = contacts.flatMap(({ externalId }) => externalId ?? [])
  const emails = contacts.flatMap(({ externalId, email }) => (externalId === null ? (email ?? []) : []))
  const byId = keyed(await readBatch(client, 'contacts', ids, properties), (item) => [item.id, ...mergedIds(item)])
  const byEmail = keyed(await readBatch(client, 'contacts', emails, properties, 'email'), emailsOf)
  return contacts.map(({ externalId, email }) => {
    const item = externalId === null ? byEmail.get(email ?? '') : byId.get(externalId)
    return item ? currentOf(item, targets, types) : null
  })
}

function keyed(items: readonly Item[], keysOf: (item: Item) => readonly string[]): Map<string, Item> {
  return new Map(items.flatMap((item) => keysOf(item).map((key) => [key, item] as const)))
}

/** A contact is found by its additional addresses too. */
function emailsOf({ properties }: Item): string[] {
  const texts = [textOf(properties.email), textOf(properties.hs_additional_emails)]
  return texts.flatMap((text) => text?.split(';') ?? []).map(normalizeEmail)
}

function currentOf(
  { id, properties, createdAt }: Item,
  targets: readonly string[],
  types: ReadonlyMap<string, string>,
): CurrentRecord {
  const values = targets.flatMap((target) => {
    const sent = properties[target]
    const text = typeof sent === 'boolean' ? String(sent) : textOf(sent)
    return text === null ? [] : [[target, { text, value: readValue(target, sent, types) }] as const]
  })
  return {
    externalId: id,
    values: new Map(values),
    createdAt: timeOf(createdAt),
    changedAt: timeOf(properties.lastmodifieddate),
  }
}
