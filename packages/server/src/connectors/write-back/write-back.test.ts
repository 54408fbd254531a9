import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant } from '../../../test/service.ts'
import { useWriteBack, WITHIN } from '../../../test/write-back.ts'

const bench = useWriteBack()
let ada: string

beforeEach(async () => {
  ada = bench.records.create('contacts', { email: 'ada@example.com', jobtitle: 'Countess', city: 'London' })
  await bench.workspace.connect()
})

const there = (id = ada) => bench.there(id)
const set = (body: unknown) => bench.workspace.tenant.call('PUT', `${bench.workspace.path}/write-back`, body)

describe('setting what is written back', () => {
  const pair = { property: 'jobtitle', target: 'jobtitle', conflict: 'ours' }

  test('is off at first, is shown and audited, and can be turned off again', async () => {
    expect((await bench.workspace.read()).write_back).toBeNull()
    await bench.workspace.change('ada@example.com', { jobtitle: 'Programmer' })
    const changed = await set({ properties: [pair] })
    expect(changed.body).toMatchObject({
      changed: true,
      connection: { write_back: { properties: [pair], create_missing: false, waiting: 0, error: null } },
    })
    expect((await set({ properties: [pair] })).body.changed).toBe(false)
    await bench.workspace.change('ada@example.com', { jobtitle: 'Analyst' })
    await bench.workspace.written()
    expect(there().jobtitle).toBe('Analyst')
    expect((await set({ properties: [] })).body.connection.write_back).toBeNull()
    await bench.workspace.change('ada@example.com', { jobtitle: 'Nobody' })
    await bench.workspace.pull()
    expect(there().jobtitle).toBe('Analyst')
    const { entries } = (await bench.workspace.tenant.call('GET', '/v1/audit-log?limit=100')).body
    const noted = entries.filter(({ action }: { action: string }) => action === 'connection.write_back_set')
    expect(noted).toHaveLength(2)
  })

  test('refuses what cannot be written, naming the field, and connectors that only read', async () => {
    const wrong = [
      { ...pair, property: 'email' },
      { ...pair, target: 'lastmodifieddate' },
      pair,
      { ...pair, conflict: 'theirs' },
    ]
    const refused = await set({ properties: wrong })
    expect(refused.status).toBe(400)
    expect(refused.body.error.details.map(({ path }: { path: string }) => path)).toEqual([
      'properties.0.property',
      'properties.1.target',
      'properties.2.property',
      'properties.2.target',
      'properties.3.property',
      'properties.3.target',
    ])
    for (const bad of [
      [{ ...pair, conflict: 'mine' }],
      [{ ...pair, target: 'a b' }],
      'x',
      null,
      [{ ...pair, more: 1 }],
    ])
      expect((await set({ properties: bad })).status).toBe(400)
    await bench.workspace.tenant.handle.db.updateTable('connections').set({ connector: 'intercom' }).execute()
    expect((await set({ properties: [pair] })).body.error.code).toBe('write_back_not_supported')
  })
})

describe('writing back', () => {
  test('does not loop, in three rounds of changes from both sides', async () => {
    await bench.workspace.writeBack([
      ['jobtitle', 'newest'],
      ['score', 'newest'],
    ])
    for (let round = 1; round <= 3; round++) {
      bench.hubspot.requests = []
      await bench.workspace.change('ada@example.com', { jobtitle: `Ours ${round}`, score: round })
      await bench.workspace.written()
      expect(there()).toMatchObject({ jobtitle: `Ours ${round}`, score: String(round) })
      expect(bench.batches()).toMatchObject([
        { verb: 'update', inputs: [{ id: ada, properties: { jobtitle: `Ours ${round}` } }] },
      ])

      // The echo changes nothing here, and is not written again.
      const updates = (await bench.workspace.events('contact_updated')).length
      await bench.workspace.pull()
      expect((await bench.workspace.events('contact_updated')).length).toBe(updates)
      expect(await bench.here()).toMatchObject({ jobtitle: `Ours ${round}`, score: round })

      bench.records.change('contacts', ada, { jobtitle: `Theirs ${round}`, city: `City ${round}` })
      await bench.workspace.pull()
      await bench.workspace.written()
      expect(await bench.here()).toMatchObject({ jobtitle: `Theirs ${round}`, city: `City ${round}`, score: round })
      await bench.workspace.pull()
      await bench.workspace.written()
      expect(bench.batches()).toHaveLength(1)
    }
  })

  test('ours: is written even over a later change there, which does not replace it here', async () => {
    await bench.workspace.writeBack([['jobtitle', 'ours']])
    await bench.workspace.change('ada@example.com', { jobtitle: 'Ours' })
    await bench.workspace.written()
    bench.records.change('contacts', ada, { jobtitle: 'Theirs, later', city: 'Paris' })
    await bench.workspace.pull()
    await bench.workspace.written()
    expect(await bench.here()).toMatchObject({ jobtitle: 'Ours', city: 'Paris' })
    expect(there()).toMatchObject({ jobtitle: 'Ours', city: 'Paris' })
    // A value that only HubSpot had is replaced by HubSpot's next one.
    const grace = bench.records.create('contacts', { email: 'grace@example.com', jobtitle: 'Admiral' })
    await bench.workspace.pull()
    bench.records.change('contacts', grace, { jobtitle: 'Rear admiral' })
    await bench.workspace.pull()
    await bench.workspace.written()
    expect([(await bench.here('grace@example.com')).jobtitle, there(grace).jobtitle]).toEqual([
      'Rear admiral',
      'Rear admiral',
    ])
    // Removing it by hand removes it there.
    await bench.workspace.change('ada@example.com', { jobtitle: null })
    await bench.workspace.written()
    expect(there().jobtitle).toBeNull()
  })

  test('theirs: only fills what is blank there', async () => {
    await bench.workspace.writeBack([
      ['jobtitle', 'theirs'],
      ['phone', 'theirs'],
    ])
    await bench.workspace.change('ada@example.com', { jobtitle: 'Ours', phone: '+1 555 0100' })
    await bench.workspace.written()
    expect(there()).toMatchObject({ jobtitle: 'Countess', phone: '+1 555 0100' })
    await bench.workspace.change('ada@example.com', { jobtitle: null })
    await bench.workspace.written()
    expect(there().jobtitle).toBe('Countess')
  })

  test('newest: the later change wins', async () => {
    await bench.workspace.writeBack([
      ['jobtitle', 'newest'],
      ['city', 'newest'],
    ])
    await bench.workspace.change('ada@example.com', { jobtitle: 'Ours, later' })
    await bench.workspace.written()
    expect(there().jobtitle).toBe('Ours, later')
    // An older value of another source does not replace a newer one there.
    const pushed = {
      external_id: '1',
      email: 'ada@example.com',
      properties: { city: 'Old' },
      updated_at: '2026-01-01T00:00:00Z',
    }
    await bench.workspace.tenant.call('POST', '/v1/sources/erp/contacts', { records: [pushed] })
    await bench.workspace.written()
    expect(there().city).toBe('London')
    bench.records.change('contacts', ada, { jobtitle: 'Theirs, later still' })
    await bench.workspace.pull()
    await bench.workspace.written()
    expect([(await bench.here()).jobtitle, there().jobtitle]).toEqual(['Theirs, later still', 'Theirs, later still'])
  })

  test('translates stages, flags and lists, and reads a target that was not read before first', async () => {
    bench.records.change('contacts', ada, { plan: 'gold' })
    await bench.workspace.writeBack([
      ['lifecyclestage', 'newest'],
      ['newsletter', 'newest'],
      ['interests', 'newest'],
      ['tier', 'theirs', 'plan'],
    ])
    await expect.poll(async () => (await bench.here()).tier, WITHIN).toBe('gold')
    await bench.workspace.change('ada@example.com', {
      lifecyclestage: 'sql',
      newsletter: true,
      interests: ['tea', 'cake'],
      tier: 'free',
    })
    await bench.workspace.written()
    expect(there()).toMatchObject({
      lifecyclestage: 'salesqualifiedlead',
      newsletter: 'true',
      interests: 'tea;cake',
      plan: 'gold',
    })
    await bench.workspace.pull()
    expect(await bench.here()).toMatchObject({
      lifecyclestage: 'sql',
      newsletter: true,
      interests: ['tea', 'cake'],
      tier: 'free',
    })
    // HubSpot has no such stage.
    await bench.workspace.change('ada@example.com', { lifecyclestage: 'prospect' })
    await bench.workspace.written()
    expect(there().lifecyclestage).toBe('salesqualifiedlead')
  })

  test('creates contacts only if that is set, with an email, and not if they must not be contacted', async () => {
    await bench.workspace.writeBack([['jobtitle', 'ours']])
    await bench.workspace.tenant.contact('one@example.com', { jobtitle: 'One' })
    await bench.workspace.written()
    expect(bench.records.byEmail('one@example.com')).toBeUndefined()
    await bench.workspace.writeBack([['jobtitle', 'ours']], true)
    await bench.workspace.tenant.contact('two@example.com', { jobtitle: 'Two' })
    await bench.workspace.tenant.contact('never@example.com', { jobtitle: 'Never', do_not_contact: true })
    await bench.workspace.tenant.call('POST', '/v1/identify', { user_id: 'u1', properties: { jobtitle: 'No address' } })
    await bench.workspace.written()
    expect(bench.records.byEmail('two@example.com')?.properties).toMatchObject({ jobtitle: 'Two' })
    expect(bench.records.of('contacts')).toHaveLength(2)
    // The contact is linked: later changes go to the same record, and changes of the record come back.
    await bench.workspace.change('two@example.com', { jobtitle: 'Deux' })
    await bench.workspace.written()
    const id = bench.records.byEmail('two@example.com')?.id ?? ''
    expect(there(id).jobtitle).toBe('Deux')
    bench.records.change('contacts', id, { city: 'Paris' })
    await bench.workspace.pull()
    expect(await bench.here('two@example.com')).toMatchObject({ city: 'Paris', jobtitle: 'Deux' })
    expect(bench.records.of('contacts')).toHaveLength(2)
  })
})

describe('writing back fails', () => {
  const others = ['b', 'c', 'd', 'e', 'f'].map((name) => `${name}@example.com`)

  test.each([
    ['for one contact of a batch', true],
    ['for one contact, with the whole batch refused', false],
  ])('%s: the others are written, and the error is kept', async (_, isMultiStatus) => {
    bench.hubspot.isMultiStatus = isMultiStatus
    for (const email of others) bench.records.create('contacts', { email })
    await bench.workspace.pull()
    await bench.workspace.writeBack([
      ['score', 'ours'],
      ['jobtitle', 'ours'],
    ])
    await bench.hold()
    for (const email of others)
      await bench.workspace.change(email, { score: email === 'd@example.com' ? 'many' : 5, jobtitle: 'Same' })
    await bench.release()
    await bench.workspace.written()
    expect(others.map((email) => bench.records.byEmail(email)?.properties.score ?? null)).toEqual([
      '5',
      '5',
      null,
      '5',
      '5',
    ])
    const { contact_id } = await bench.workspace.contact('d@example.com')
    expect(await bench.workspace.errors()).toMatchObject([
      { run_id: null, object: 'write_back', external_id: contact_id, code: 'validation_error' },
    ])
    // Once it is corrected, it is written.
    await bench.workspace.change('d@example.com', { score: 6 })
    await bench.workspace.written()
    expect(bench.records.byEmail('d@example.com')?.properties.score).toBe('6')
  })

  test('for all contacts while HubSpot is down or its daily limit is reached: nothing is lost', async () => {
    await bench.workspace.writeBack([['jobtitle', 'ours']])
    bench.hubspot.intercept = ({ path }) => (path.endsWith('/batch/update') ? { status: 502, body: {} } : undefined)
    await bench.workspace.change('ada@example.com', { jobtitle: 'Late' })
    await expect
      .poll(async () => (await bench.workspace.read()).write_back.error, WITHIN)
      .toBe('HubSpot responded with status 502.')
    expect((await bench.workspace.read()).write_back.waiting).toBe(1)
    bench.hubspot.intercept = () => undefined
    bench.hubspot.remainingToday = 0
    await bench.release()
    const isPutOff = async () => {
      const row = await bench.workspace.tenant.handle.db
        .selectFrom('connections')
        .select('write_back_at')
        .executeTakeFirstOrThrow()
      return row.write_back_at.getTime() - Date.now() > 3_000_000
    }
    await expect.poll(isPutOff, WITHIN).toBe(true)
    expect((await bench.workspace.read()).write_back.waiting).toBe(1)
    bench.hubspot.remainingToday = 250_000
    await bench.release()
    await bench.workspace.written()
    expect(there().jobtitle).toBe('Late')
    expect((await bench.workspace.read()).write_back.error).toBeNull()
  })

  test('after HubSpot accepted: the same values are sent again, without duplicates', async () => {
    await bench.workspace.writeBack([['jobtitle', 'ours']], true)
    // The process ends, as far as the database can tell, between the call and the removal.
    await sql`CREATE FUNCTION refuse_removal() RETURNS trigger LANGUAGE plpgsql AS
      ${sql.lit("BEGIN RAISE EXCEPTION 'the process ended'; END")}`.execute(bench.service.stores.database)
    await sql`CREATE TRIGGER refuse_removal BEFORE DELETE ON connection_outbox FOR EACH ROW
      EXECUTE FUNCTION refuse_removal()`.execute(bench.service.stores.database)
    await bench.hold()
    await bench.workspace.tenant.contact('new@example.com', { jobtitle: 'New' })
    await bench.workspace.change('ada@example.com', { jobtitle: 'Once' })
    await bench.release()
    await expect.poll(() => there().jobtitle, WITHIN).toBe('Once')
    await expect.poll(() => bench.records.byEmail('new@example.com'), WITHIN).toBeDefined()
    await expect.poll(async () => (await bench.workspace.read()).write_back.error, WITHIN).not.toBeNull()
    expect((await bench.workspace.read()).write_back.waiting).toBe(2)
    await sql`DROP FUNCTION refuse_removal CASCADE`.execute(bench.service.stores.database)
    await bench.release()
    await bench.workspace.written()
    expect(bench.batches().length).toBeGreaterThanOrEqual(2)
    expect(bench.records.of('contacts').map(({ properties }) => [properties.email, properties.jobtitle])).toEqual([
      ['ada@example.com', 'Once'],
      ['new@example.com', 'New'],
    ])
    await bench.workspace.pull()
    // The response was lost, so the values count as new in HubSpot, and are compared once more.
    await bench.workspace.written()
    expect((await bench.workspace.tenant.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(2)
  })
})

describe('what waits to be written', () => {
  const waiting = () => bench.workspace.tenant.handle.db.selectFrom('connection_outbox').select('contact_id').execute()

  test('is deleted with an erased contact, and so are the errors about it', async () => {
    await bench.workspace.writeBack([['score', 'ours']])
    await bench.workspace.change('ada@example.com', { score: 'many' })
    await bench.workspace.written()
    expect(await bench.workspace.errors()).toHaveLength(1)
    await bench.hold()
    await bench.workspace.change('ada@example.com', { score: 'more' })
    const { contact_id } = await bench.workspace.contact('ada@example.com')
    expect(await waiting()).toEqual([{ contact_id }])
    await bench.workspace.tenant.call('POST', '/v1/erasures', { contact_id })
    await expect.poll(waiting, WITHIN).toEqual([])
    await expect.poll(() => bench.workspace.errors(), WITHIN).toEqual([])
    expect(bench.batches()).toHaveLength(1)
  })

  test('belongs to one tenant, and only to changes of the chosen properties', async () => {
    await bench.workspace.writeBack([['jobtitle', 'ours']])
    await bench.hold()
    const other = await createTestTenant(bench.service)
    await other.contact('ada@example.com', { jobtitle: 'Other' })
    await bench.workspace.change('ada@example.com', { phone: '+1 555 0100' })
    expect(await waiting()).toEqual([])
    await bench.workspace.change('ada@example.com', { jobtitle: 'Ours' })
    expect(await waiting()).toHaveLength(1)
    const all = await bench.service.stores.database.selectFrom('connection_outbox').select('tenant_id').execute()
    expect(all.filter(({ tenant_id }) => tenant_id === other.id)).toEqual([])
    await bench.workspace.tenant.call('DELETE', bench.workspace.path)
    await bench.workspace.change('ada@example.com', { jobtitle: 'Nobody asks' })
    expect(await waiting()).toEqual([])
  })

  test('includes a change that arrives during the write', async () => {
    await bench.workspace.writeBack([['jobtitle', 'ours']])
    bench.hubspot.intercept = ({ path }) => {
      if (!path.endsWith('/batch/update')) return undefined
      bench.hubspot.intercept = () => undefined
      const changed = bench.workspace.change('ada@example.com', { jobtitle: 'Second' })
      // The response waits for the change.
      bench.records.change('contacts', ada, { jobtitle: 'First' })
      return changed.then(() => ({
        body: { status: 'COMPLETE', results: [{ id: ada, properties: {}, objectWriteTraceId: '0' }] },
      }))
    }
    await bench.workspace.change('ada@example.com', { jobtitle: 'First' })
    await expect.poll(() => there().jobtitle, WITHIN).toBe('Second')
    await bench.workspace.written()
  })
})
