import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createTestTenant, sharedService } from '../../../test/service.ts'
import { summarizeEvents } from './events-summary.ts'

test('events before and after identification are summarized, even for more visitors than one query can name', async () => {
  const service = await sharedService()
  const tenant = await createTestTenant(service)
  const names = ['ada', 'bob']
  for (const name of names) await tenant.track({ visitor_id: name, events: [{ event: 'before' }] })
  const ids = await Promise.all(names.map((name) => tenant.contact(`${name}@example.com`, {}, { visitor_id: name })))
  await sql`INSERT INTO owner_links (tenant_id, owner_id, contact_id)
    SELECT ${tenant.id}::uuid, gen_random_uuid(), contact_id
    FROM unnest(${ids}::uuid[]) AS contact_id, generate_series(1, 11000)`.execute(service.stores.database)
  for (const name of names) await tenant.track({ visitor_id: name, events: [{ event: `by_${name}` }] })
  const summaries = await summarizeEvents(tenant.handle, ids)
  expect(
    ids.map((id) =>
      summaries
        .get(id)
        ?.by_type.map(({ event }) => event)
        .sort(),
    ),
  ).toEqual([
    ['before', 'by_ada'],
    ['before', 'by_bob'],
  ])
})

test("a merged contact's events are summarized with its survivor's, and on their own once it is unmerged", async () => {
  const service = await sharedService()
  const tenant = await createTestTenant(service)
  const ids: string[] = []
  for (const name of ['ada', 'old']) {
    await tenant.track({ visitor_id: name, events: [{ event: `${name}_before` }] })
    ids.push(await tenant.contact(`${name}@example.com`, {}, { visitor_id: name }))
    await tenant.track({ visitor_id: name, events: [{ event: `${name}_after` }] })
  }
  const eventNames = async () => {
    const summaries = await summarizeEvents(tenant.handle, ids)
    return ids.map((id) =>
      summaries
        .get(id)
        ?.by_type.map(({ event }) => event)
        .sort(),
    )
  }
  const apart = await eventNames()
  expect(apart).toEqual([
    ['ada_after', 'ada_before'],
    ['old_after', 'old_before'],
  ])
  const [ada, old] = ids
  expect((await tenant.call('POST', `/v1/contacts/${old}/merge`, { into: ada })).status).toBe(200)
  expect(await eventNames()).toEqual([['ada_after', 'ada_before', 'old_after', 'old_before'], undefined])
  expect((await tenant.call('POST', `/v1/contacts/${old}/unmerge`)).status).toBe(200)
  expect(await eventNames()).toEqual(apart)
})
