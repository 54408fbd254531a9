import { dataItems } from '../conditions/event-property.ts'
import { ownPhoneNumbers } from '../contacts/phone-numbers.ts'
import { conditionsOf } from '../events/conditions.ts'
import type { EventFilters } from '../events/filters.ts'
import { NOBODY } from '../journal/event-record.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'

/** How many numbers are compared with the contacts' phone numbers. */
const NUMBERS_MAX = 10_000

/** The JSON of a whole number, or of a text that is one, of 7 digits or more. */
const LONG = '^(-?[0-9]{7,20}|"[-+ ()./0-9]{7,30}")$'

/** The digits of an item's JSON, by which it is compared with the numbers that `phoneNumbersIn` returns. */
export const DIGITS_OF_ITEM = `replaceRegexpAll(item, '[^0-9]', '')`

/**
 * The condition that an item may be a key where personal values are hidden: it is none of the phone numbers in a parameter, and
 * no object, which may have such numbers in it.
 */
export function isShownItem(parameter: string): string {
  return `${DIGITS_OF_ITEM} NOT IN {${parameter}: Array(String)} AND substring(item, 1, 1) NOT IN ('{', '[')`
}

/**
 * The digits of numbers at a path in events' data, also in texts, that are phone numbers of the events' contacts: they are hidden where
 * the events are shown. Only PostgreSQL has the contacts' phone numbers, so long numbers are looked up there first.
 * @throws ServiceError 400 `hidden_property` if there are too many.
 */
export async function phoneNumbersIn(
  tenant: Tenant,
  filters: EventFilters,
  path: readonly string[],
): Promise<string[]> {
  const { where, parameters } = await conditionsOf(tenant, filters)
  const { sql: items, parameters: ofItems } = dataItems(path, 'phone')
  const long = `arrayFilter(item -> match(item, '${LONG}'), ${items})`
  const found = await tenant.events.select<{ contact_id: string; number: string }>({
    name: 'aggregate.phone_numbers',
    lane: 'heavy',
    columns: `groupUniqArrayArray(${NUMBERS_MAX + 1})(arrayMap(item -> ${DIGITS_OF_ITEM}, ${long})) AS numbers`,
    where: [...where, `notEmpty(${long})`],
    parameters: { ...parameters, ...ofItems },
    isPerContact: true,
    outer: {
      columns: 'contact_id, arrayJoin(numbers) AS number',
      where: `contact_id != toUUID('${NOBODY}')`,
      limit: NUMBERS_MAX + 1,
    },
  })
  if (found.length <= NUMBERS_MAX) return ownPhoneNumbers(tenant, found)
  const message = `Personal data is hidden from this connection, and ${path.join('.')} has too many long numbers to tell which are phone numbers. Add filters such as date_after.`
  throw new ServiceError(400, 'hidden_property', message)
}
