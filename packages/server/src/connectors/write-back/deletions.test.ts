import { beforeEach, describe, expect, test } from 'vitest'
import { useWriteBack } from '../../../test/write-back.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/time.ts'

const bench = useWriteBack()
const SIX_HOURS_MS = 6 * HOUR_MS
const AGO = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS)
let ada: string

beforeEach(async () => {
  ada = bench.records.create('contacts', { email: 'ada@example.com', jobtitle: 'Countess', city: 'London' })
  await bench.workspace.connect()
  await bench.workspace.writeBack([['jobtitle', 'ours']], true)
  bench.hubspot.requests = []
})

/** Deletes Ada in HubSpot and waits until the service has read that. */
async function deleteThere(): Promise<void> {
  bench.records.archive('contacts', ada, AGO(2))
  await bench.workspace.lastReadWas(new Date(Date.now() - SIX_HOURS_MS))
  expect((await bench.workspace.pull()).contacts).toMatchObject({ deleted: 1 })
}

describe('a contact that was deleted in HubSpot is not created there again', () => {
  test('by its removal, or by a later change here', async () => {
    await deleteThere()
    await bench.workspace.written()
    await bench.workspace.change('ada@example.com', { jobtitle: 'Programmer' })
    await bench.workspace.written()
    expect(bench.batches()).toEqual([])
    expect(bench.records.byEmail('ada@example.com')).toBeUndefined()
    expect(await bench.workspace.errors()).toEqual([])
    // Other contacts still are.
    await bench.workspace.tenant.contact('grace@example.com', { jobtitle: 'Admiral' })
    await bench.workspace.written()
    expect(bench.batches()).toMatchObject([{ verb: 'upsert', inputs: [{ id: 'grace@example.com' }] }])
  })

  test('by a change here that was waiting when the deletion was read', async () => {
    await bench.hold()
    await bench.workspace.change('ada@example.com', { jobtitle: 'Programmer' })
    await deleteThere()
    await bench.release()
    await bench.workspace.written()
    expect(bench.batches()).toEqual([])
  })

  test('by a change here before the deletion is read, which is an error of the contact', async () => {
    bench.records.archive('contacts', ada)
    await bench.workspace.change('ada@example.com', { jobtitle: 'Programmer' })
    await bench.workspace.written()
    expect(bench.batches()).toMatchObject([{ verb: 'update', inputs: [{ id: ada }] }])
    const { contact_id } = await bench.workspace.contact('ada@example.com')
    expect(await bench.workspace.errors()).toMatchObject([
      { object: 'write_back', external_id: contact_id, code: 'object_not_found' },
    ])
    expect(bench.records.byEmail('ada@example.com')).toBeUndefined()
  })

  test('by a merge here, or after that is undone', async () => {
    await deleteThere()
    const merged = await bench.workspace.contact('ada@example.com')
    const into = await bench.workspace.tenant.call('POST', '/v1/identify', {
      user_id: 'u1',
      properties: { jobtitle: 'No address' },
    })
    expect(into.status).toBe(200)
    const { contact_id } = into.body
    const path = `/v1/contacts/${merged.contact_id}`
    expect((await bench.workspace.tenant.call('POST', `${path}/merge`, { into: contact_id })).status).toBe(200)
    await bench.workspace.written()
    expect((await bench.workspace.contact('ada@example.com')).contact_id).toBe(contact_id)
    expect((await bench.workspace.tenant.call('POST', `${path}/unmerge`)).status).toBe(200)
    await bench.workspace.change('ada@example.com', { jobtitle: 'Programmer' })
    await bench.workspace.written()
    expect(bench.batches()).toEqual([])
    expect(bench.records.byEmail('ada@example.com')).toBeUndefined()
  })
})

test('a contact that was deleted in HubSpot is written again once it is there again', async () => {
  await deleteThere()
  ada = bench.records.create('contacts', { email: 'ada@example.com', jobtitle: 'Countess again' })
  await bench.workspace.pull()
  await bench.workspace.change('ada@example.com', { jobtitle: 'Programmer' })
  await bench.workspace.written()
  expect(bench.there(ada).jobtitle).toBe('Programmer')
  expect(bench.batches()).toMatchObject([{ verb: 'update', inputs: [{ id: ada }] }])
})
