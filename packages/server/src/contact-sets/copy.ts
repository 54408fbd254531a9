import { type ContactRange, rangesOfContacts } from '../contacts/ranges.ts'
import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Characters of one insertion, about 100,000 contacts: each insertion is a part that ClickHouse has to merge. */
const CHARACTERS_PER_INSERTION = 4_000_000

/**
 * Copies contacts of the tenant into a new set, range by range, so that memory does not grow with their number.
 * @param linesOf the lines of a range as `TenantEvents.addToSet` takes them, each with its line break. It is a heavy read.
 * @param contactsAtOnce contacts per range
 * @returns the set's id, once it is complete: nobody knows the id of a set whose copying failed.
 */
export async function copyContacts(
  tenant: Tenant,
  linesOf: (range: ContactRange) => Promise<string>,
  contactsAtOnce: number,
): Promise<string> {
  const setId = newId()
  let waiting = ''
  for await (const range of rangesOfContacts(tenant, contactsAtOnce)) {
    waiting += await linesOf(range)
    if (waiting.length < CHARACTERS_PER_INSERTION) continue
    await tenant.events.addToSet(setId, waiting)
    waiting = ''
  }
  if (waiting !== '') await tenant.events.addToSet(setId, waiting)
  return setId
}
