import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Characters of one insertion, about 100,000 contacts: each insertion is a part that ClickHouse has to merge. */
const CHARACTERS_PER_INSERTION = 4_000_000

/**
 * Copies contacts of the tenant into a new set, part by part, so that memory does not grow with their number.
 * @param parts such as ranges of contacts
 * @param linesOf the lines of a part as `TenantEvents.addToSet` takes them, each with its line break
 * @returns the set's id, once it is complete: nobody knows the id of a set whose copying failed.
 */
export async function copyContacts<Part>(
  tenant: Tenant,
  parts: AsyncIterable<Part> | Iterable<Part>,
  linesOf: (part: Part) => Promise<string>,
): Promise<string> {
  const setId = newId()
  let waiting = ''
  // PostgreSQL reads the next parts while ClickHouse stores the ones before.
  let storing = Promise.resolve()
  for await (const part of parts) {
    waiting += await linesOf(part)
    if (waiting.length < CHARACTERS_PER_INSERTION) continue
    await storing
    storing = tenant.events.addToSet(setId, waiting)
    // Its error is thrown by the next `await`, if nothing else fails before.
    storing.catch(() => {})
    waiting = ''
  }
  await storing
  if (waiting !== '') await tenant.events.addToSet(setId, waiting)
  return setId
}
