import { beforeAll, expect, test } from 'vitest'
import { labelledContacts } from '../../test/labelled-contacts.ts'
import { createTestTenant, sharedService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'

/** What is suggested for made-up contacts of which is known who they are, as the API lists it. */

const GROUPS = 20
/** From here on, a reviewer may expect that it is one person. */
const LIKELY = 0.8
const AT_ONCE = 100

let tenant: TestTenant

beforeAll(async () => {
  tenant = await createTestTenant(await sharedService())
})

/** A random number generator whose numbers are the same in each run. */
function fixedRandom(): () => number {
  let state = 20_261_130
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

test('of 20 of each kind of pair, at least 98 % of the likely suggestions are right, and 80 % of the duplicates are found', async () => {
  const labelled = labelledContacts(fixedRandom(), GROUPS)
  const people = new Map<string, string>()
  for (let from = 0; from < labelled.length; from += AT_ONCE) {
    const part = labelled.slice(from, from + AT_ONCE)
    const records = part.map(({ record }, at) => ({ external_id: `labelled-${from + at}`, ...record }))
    const { status, body } = await tenant.call('POST', '/v1/sources/labelled/contacts', { records })
    expect(status).toBe(200)
    for (const [at, { contact_id }] of body.results.entries()) people.set(contact_id, part[at]?.person ?? '')
  }
  await until(async () => {
    expect(await tenant.handle.db.selectFrom('duplicate_checks').select('check_id').executeTakeFirst()).toBeUndefined()
  }, 60_000)
  expect(people.size).toBe(labelled.length)
  const counted = new Map<string, number>()
  for (const person of people.values()) counted.set(person, (counted.get(person) ?? 0) + 1)
  const pairs = [...counted.values()].filter((count) => count === 2).length

  const suggested: { isRight: boolean; isLikely: boolean; names: string }[] = []
  for (let page = 1; ; page++) {
    const { body } = await tenant.call('GET', `/v1/duplicates?limit=100&page=${page}`)
    for (const { contacts, confidence, reasons } of body.duplicates) {
      const [a, b] = contacts.map(({ contact_id }: { contact_id: string }) => people.get(contact_id))
      const names = JSON.stringify([
        reasons[0].code,
        ...contacts.map(({ properties }: { properties: object }) => properties),
      ])
      suggested.push({ isRight: a === b, isLikely: confidence >= LIKELY, names })
    }
    if (page >= body.pagination.total_pages) break
  }
  const likely = suggested.filter(({ isLikely }) => isLikely)
  const right = likely.filter(({ isRight }) => isRight)
  const [precision, recall] = [right.length / likely.length, right.length / pairs]
  console.info(
    `${labelled.length} contacts, ${pairs} duplicates: ${likely.length} likely suggestions, precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}; ${suggested.length - likely.length} less likely ones`,
  )
  expect(likely.flatMap(({ isRight, names }) => (isRight ? [] : names))).toEqual([])
  expect(precision).toBeGreaterThanOrEqual(0.98)
  expect(recall).toBeGreaterThanOrEqual(0.8)
})
