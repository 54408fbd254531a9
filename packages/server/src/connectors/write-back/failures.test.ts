import { beforeEach, describe, expect, test } from 'vitest'
import { TOKEN } from '../../../test/hubspot.ts'
import { useWriteBack, WITHIN } from '../../../test/write-back.ts'

const bench = useWriteBack({ CDS_PUBLIC_URL: 'https://cds.example' })
let ada: string

beforeEach(() => {
  ada = bench.records.create('contacts', { email: 'ada@example.com', jobtitle: 'Countess' })
})

/** From the next batch on, HubSpot no longer accepts the tokens that it has issued. */
function endSignIn(): void {
  bench.hubspot.intercept = ({ path }) => {
    if (!path.endsWith('/batch/update')) return undefined
    bench.hubspot.intercept = () => undefined
    bench.hubspot.tokens = new Set()
    return undefined
  }
}

describe('a sign-in that ends while a batch is sent', () => {
  test('is renewed once, and the batch is written', async () => {
    await bench.workspace.signIn('good-code')
    await bench.workspace.pulled()
    await bench.workspace.writeBack([['jobtitle', 'ours']])
    bench.hubspot.requests = []
    endSignIn()
    await bench.workspace.change('ada@example.com', { jobtitle: 'Programmer' })
    await bench.workspace.written()
    expect(bench.there(ada).jobtitle).toBe('Programmer')
    expect(bench.batches().map(({ verb }) => verb)).toEqual(['update', 'update'])
    expect(bench.hubspot.requests.filter(({ path }) => path === '/oauth/v1/token')).toHaveLength(1)
    expect(await bench.workspace.read()).toMatchObject({ state: 'waiting', error: null })
  })

  test('for good is shown, and what waits is written after a person signs in again', async () => {
    await bench.workspace.connect()
    await bench.workspace.writeBack([['jobtitle', 'ours']])
    endSignIn()
    await bench.workspace.change('ada@example.com', { jobtitle: 'Programmer' })
    await expect.poll(async () => (await bench.workspace.read()).state, WITHIN).toBe('signed_out')
    const { error, write_back } = await bench.workspace.read()
    expect(error).toContain('HubSpot responded with status 401')
    expect(write_back).toMatchObject({ waiting: 1, error: null })
    expect(bench.there(ada).jobtitle).toBe('Countess')
    expect(await bench.workspace.errors()).toEqual([])

    bench.hubspot.tokens = new Set([TOKEN])
    const again = await bench.workspace.tenant.call('PATCH', bench.workspace.path, { credentials: { token: TOKEN } })
    expect(again.status).toBe(200)
    await bench.workspace.pulled()
    await bench.workspace.written()
    expect(bench.there(ada).jobtitle).toBe('Programmer')
  })
})

test('a contact that was merged there since the last read is written to the record that survived', async () => {
  const grace = bench.records.create('contacts', { email: 'grace@example.com' })
  await bench.workspace.connect()
  await bench.workspace.writeBack([['jobtitle', 'ours']])
  await bench.hold()
  const survivor = bench.records.merge(ada, grace)
  await bench.workspace.change('ada@example.com', { jobtitle: 'Programmer' })
  await bench.release()
  await bench.workspace.written()
  expect(bench.batches()).toMatchObject([{ verb: 'update', inputs: [{ id: survivor.id }] }])
  expect(bench.there(survivor.id).jobtitle).toBe('Programmer')
  expect(await bench.workspace.errors()).toEqual([])
})

test('changes are written 100 at a time', async () => {
  const emails = Array.from({ length: 150 }, (_, number) => `p${number}@example.com`)
  const ids = emails.map((email) => bench.records.create('contacts', { email }))
  await bench.workspace.connect()
  await bench.workspace.writeBack([['jobtitle', 'ours']])
  await bench.hold()
  const changed = emails.map((email, number) => ({ external_id: `e${number}`, email, properties: { jobtitle: email } }))
  for (const some of [changed.slice(0, 75), changed.slice(75)]) {
    const pushed = await bench.workspace.tenant.call('POST', '/v1/sources/erp/contacts', { records: some })
    expect(pushed.status).toBe(200)
  }
  await expect.poll(async () => (await bench.workspace.read()).write_back.waiting, WITHIN).toBe(150)
  await bench.release()
  await bench.workspace.written()
  expect(bench.batches().map(({ verb, inputs }) => [verb, inputs.length])).toEqual([
    ['update', 100],
    ['update', 50],
  ])
  expect(ids.map((id) => bench.there(id).jobtitle)).toEqual(emails)
})
