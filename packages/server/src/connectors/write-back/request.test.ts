import { beforeEach, expect, test } from 'vitest'
import { createTestTenant } from '../../../test/service.ts'
import { useWriteBack } from '../../../test/write-back.ts'
import { newId } from '../../platform/ids.ts'

const bench = useWriteBack()
let ada: string

beforeEach(async () => {
  ada = bench.records.create('contacts', { email: 'ada@example.com', jobtitle: 'Countess' })
  await bench.workspace.connect()
})

const request = (...contact_ids: string[]) =>
  bench.workspace.tenant.call('POST', `${bench.workspace.path}/write-back`, { contact_ids })
const statuses = async (...contactIds: string[]) =>
  (await request(...contactIds)).body.contacts.map(({ status }: { status: string }) => status)

test('contacts are written on request, unchanged ones too, and created whether or not that is set', async () => {
  const { tenant } = bench.workspace
  const missing = await tenant.contact('grace@example.com', { jobtitle: 'Admiral' })
  await tenant.contact('else@example.com', { jobtitle: 'Not asked for' })
  const silent = await tenant.contact('never@example.com', { do_not_contact: true })
  const { body } = await tenant.call('POST', '/v1/identify', { user_id: 'u1', properties: { jobtitle: 'Nobody' } })
  const { contact_id: known } = await bench.workspace.contact('ada@example.com')
  expect((await request(missing)).body.error.code).toBe('write_back_off')
  await bench.workspace.change('ada@example.com', { jobtitle: 'Programmer' })
  await bench.workspace.writeBack([['jobtitle', 'ours']])

  const unknown = newId()
  const response = await request(missing, body.contact_id, silent, unknown, known.toUpperCase())
  expect(response.body.contacts).toEqual([
    { contact_id: missing, status: 'waiting' },
    { contact_id: body.contact_id, status: 'no_email' },
    { contact_id: silent, status: 'opted_out' },
    { contact_id: unknown, status: 'not_found' },
    { contact_id: known, status: 'waiting' },
  ])
  await bench.workspace.written()
  expect(bench.there(ada).jobtitle).toBe('Programmer')
  expect(bench.records.of('contacts').map(({ properties }) => properties.email)).toEqual([
    'ada@example.com',
    'grace@example.com',
  ])
  const { entries } = (await tenant.call('GET', '/v1/audit-log?limit=100')).body
  expect(entries.find(({ action }: { action: string }) => action === 'connection.contacts_requested')).toMatchObject({
    details: { contacts: 2 },
  })
  // It is a contact of HubSpot now, so another request creates nothing.
  expect(await statuses(missing)).toEqual(['waiting'])
  await bench.workspace.written()
  expect(bench.records.of('contacts')).toHaveLength(2)
})

test('a record that HubSpot has since the last read is linked without a write', async () => {
  await bench.workspace.writeBack([['jobtitle', 'theirs']])
  const there = bench.records.create('contacts', { email: 'grace@example.com', jobtitle: 'Admiral' })
  const grace = await bench.workspace.tenant.contact('grace@example.com', { jobtitle: 'Rear admiral' })
  expect(await statuses(grace)).toEqual(['waiting'])
  await bench.workspace.written()
  expect(bench.batches()).toEqual([])
  const { unified_profile } = (await bench.workspace.tenant.call('GET', `/v1/contacts/${grace}`)).body
  expect(unified_profile.sources.hubspot).toMatchObject({ external_id: there })
  // Its values are read as those of any other record.
  bench.records.change('contacts', there, { city: 'Arlington' })
  await bench.workspace.pull()
  expect(await bench.here('grace@example.com')).toMatchObject({ city: 'Arlington' })
})

test('a stranger, and a request for too many contacts, are refused', async () => {
  await bench.workspace.writeBack([['jobtitle', 'ours']])
  const { contact_id } = await bench.workspace.contact('ada@example.com')
  const stranger = await createTestTenant(bench.service)
  const path = `${bench.workspace.path}/write-back`
  expect((await stranger.call('POST', path, { contact_ids: [contact_id] })).status).toBe(404)
  const theirs = await stranger.contact('stranger@example.com')
  expect(await statuses(theirs)).toEqual(['not_found'])
  expect((await request(...Array.from({ length: 101 }, newId))).status).toBe(400)
  expect((await request()).status).toBe(400)
  const other = await bench.workspace.tenant.call('POST', `/v1/connections/${newId()}/write-back`, {
    contact_ids: [contact_id],
  })
  expect([other.status, other.body.error.code]).toEqual([404, 'not_found'])
})
