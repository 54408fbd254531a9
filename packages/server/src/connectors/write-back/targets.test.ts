import { beforeEach, expect, test } from 'vitest'
import { CONTACT_PROPERTIES } from '../../../test/hubspot-records.ts'
import { useWriteBack, WITHIN } from '../../../test/write-back.ts'

const bench = useWriteBack()
let ada: string

beforeEach(async () => {
  ada = bench.records.create('contacts', { email: 'ada@example.com' })
  await bench.workspace.connect()
})

const pair = (target: string) => ({ property: target, target, conflict: 'ours' })
const set = (...targets: string[]) =>
  bench.workspace.tenant.call('PUT', `${bench.workspace.path}/write-back`, { properties: targets.map(pair) })

test('a field that HubSpot lacks is refused by name, and turning write-back off sends no request', async () => {
  const refused = await set('jobtitle', 'job_titel', 'Score')
  expect(refused.status).toBe(400)
  expect(refused.body.error.details).toEqual([
    { path: 'properties.1.target', message: 'is not a field of contacts in HubSpot that can be written' },
    { path: 'properties.2.target', message: 'is not a field of contacts in HubSpot that can be written' },
  ])
  expect((await bench.workspace.read()).write_back).toBeNull()
  expect((await set('jobtitle')).body.changed).toBe(true)

  bench.hubspot.intercept = () => ({ status: 502, body: {} })
  expect((await set('jobtitle', 'score')).body.error).toMatchObject({
    code: 'connection_refused',
    message: 'HubSpot responded with status 502.',
  })
  expect((await set()).body.changed).toBe(true)
})

test('a field that is removed there later stops the writing, and no waiting contact is lost', async () => {
  await bench.workspace.writeBack([
    ['jobtitle', 'ours'],
    ['score', 'ours'],
  ])
  bench.hubspot.intercept = ({ path }) => {
    if (path !== '/crm/v3/properties/contacts') return undefined
    const left = [...CONTACT_PROPERTIES].filter(([name]) => name !== 'score')
    return { body: { results: left.map(([name, definition]) => ({ name, ...definition })) } }
  }
  bench.hubspot.requests = []
  await bench.workspace.change('ada@example.com', { jobtitle: 'Countess', score: 7 })
  await expect
    .poll(async () => (await bench.workspace.read()).write_back.error, WITHIN)
    .toBe(
      'Contacts in HubSpot have no field score that can be written. Nothing is written back until they do or you choose another field.',
    )
  expect((await bench.workspace.read()).write_back.waiting).toBe(1)
  expect(bench.hubspot.requests.filter(({ path }) => path.includes('/batch/'))).toEqual([])
  expect(await bench.workspace.errors()).toEqual([])

  bench.hubspot.intercept = () => undefined
  await bench.release()
  await bench.workspace.written()
  expect(bench.records.find('contacts', ada)?.properties).toMatchObject({ jobtitle: 'Countess', score: '7' })
  expect((await bench.workspace.read()).write_back.error).toBeNull()
})
