import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { erased, WITHIN } from '../../../test/connections.ts'
import { executed } from '../../../test/executed-actions.ts'
import { TOKEN } from '../../../test/hubspot.ts'
import { HubSpotRecords } from '../../../test/hubspot-records.ts'
import { type HubSpotBench, HubSpotWorkspace, startHubSpotBench } from '../../../test/hubspot-workspace.ts'

let bench: HubSpotBench
let records: HubSpotRecords
let workspace: HubSpotWorkspace
let ada: string

beforeAll(async () => {
  bench = await startHubSpotBench({ CDS_PULL_MINUTES: '1440' })
  bench.hubspot.limits.searchesSecondly++
})
afterAll(() => bench?.close())
beforeEach(async () => {
  records = new HubSpotRecords()
  Object.assign(bench.hubspot, { records, requests: [], intercept: () => undefined })
  ada = records.create('contacts', { email: 'ada@example.com' })
  workspace = await HubSpotWorkspace.create(bench.service)
  await workspace.connect()
})

async function enable(enabled = true) {
  const response = await workspace.tenant.call('PUT', `${workspace.path}/activities`, { enabled })
  expect([response.status, response.body.error]).toEqual([200, undefined])
  return response.body
}

const act = async (kind: 'note' | 'email_message', email = 'ada@example.com') =>
  executed(bench.service, workspace.tenant, (await workspace.contact(email)).contact_id, kind)
const state = async () => (await workspace.read()).activities
const stored = () => expect.poll(state, WITHIN).toEqual({ waiting: 0, error: null })
const failed = () => expect.poll(async () => (await state()).error, WITHIN).not.toBeNull()

/** Ends the pause after a failure. */
async function tryAgain(): Promise<void> {
  await workspace.tenant.handle.db.updateTable('connections').set({ activities_at: sql`now()` }).execute()
}

describe('notes and mails of agents', () => {
  test('are stored at the contact in HubSpot, and are not read back, even by another connection of the account', async () => {
    await act('note')
    expect(await enable()).toMatchObject({ changed: true, connection: { activities: { waiting: 0, error: null } } })
    expect(await enable()).toMatchObject({ changed: false })
    // Only what happens from then on is stored, and only with contacts that HubSpot has.
    await workspace.tenant.contact('eve@example.com')
    await act('note', 'eve@example.com')
    await act('note')
    await act('email_message')
    await stored()
    const [note, ...otherNotes] = records.of('notes')
    const [mail, ...otherMails] = records.of('emails')
    expect([otherNotes, otherMails]).toEqual([[], []])
    expect(note?.properties.hs_note_body).toContain('Asked for <strong>pricing</strong>.')
    const sent = { hs_email_direction: 'EMAIL', hs_email_status: 'SENT', hs_email_subject: 'Hello' }
    expect(mail?.properties).toMatchObject({ ...sent, hs_email_text: 'How is it going?' })
    expect(records.associated('notes', note?.id ?? '', 'contacts')).toEqual([ada])

    const own = records.create('notes', { hs_timestamp: new Date().toISOString(), hs_note_body: 'By a person' })
    records.associate(['notes', own], ['contacts', ada])
    expect(await workspace.pull()).toMatchObject({ notes: { accepted: 1, unchanged: 1 }, emails: { unchanged: 1 } })
    // What was stored stays known when the connection is deleted.
    await workspace.tenant.call('DELETE', workspace.path)
    expect(await workspace.connect()).toMatchObject({ emails: { unchanged: 1 } })
    expect((await workspace.events('hubspot_note')).map(({ data }: { data: object }) => data)).toMatchObject([
      { text: 'By a person' },
    ])
    expect(await workspace.events('hubspot_email')).toEqual([])
    expect(await state()).toBeNull()
  })

  test('are stored once, although the response to the first attempt was lost, and a pull came in between', async () => {
    await enable()
    bench.hubspot.intercept = ({ path, method, body }) => {
      if (method !== 'POST' || path !== '/crm/v3/objects/notes') return undefined
      const id = records.create('notes', JSON.parse(body).properties)
      records.associate(['notes', id], ['contacts', ada])
      return null
    }
    await act('note')
    await failed()
    expect(records.of('notes')).toHaveLength(1)
    expect(await workspace.pull()).toMatchObject({ notes: { unchanged: 1 } })
    bench.hubspot.intercept = () => undefined
    await tryAgain()
    await stored()
    expect(records.of('notes')).toHaveLength(1)
    expect(await workspace.events('hubspot_note')).toEqual([])
  })

  test('wait while HubSpot refuses all of them; one that it refuses alone is listed, and the others are stored', async () => {
    await enable()
    bench.hubspot.intercept = ({ path }) =>
      path === '/crm/v3/objects/notes'
        ? { status: 403, body: { category: 'MISSING_SCOPES', message: 'No' } }
        : undefined
    await act('note')
    await failed()
    expect(await state()).toMatchObject({ waiting: 1, error: 'HubSpot responded with status 403: No' })
    const { contact_id } = await workspace.contact('ada@example.com')
    bench.hubspot.intercept = ({ path }) =>
      path === '/crm/v3/objects/emails' ? { status: 400, body: { message: 'Not a subject' } } : undefined
    await act('email_message')
    await tryAgain()
    await stored()
    expect(records.of('notes')).toHaveLength(1)
    expect(await workspace.errors()).toMatchObject([
      {
        object: 'activities',
        run_id: null,
        external_id: contact_id,
        message: expect.stringContaining('Not a subject'),
      },
    ])
  })

  test('wait for the end of a daily limit, and for a person who signs in again', async () => {
    await enable()
    bench.hubspot.remainingToday = 0
    await act('note')
    const waitsUntil = async () => {
      const { db } = workspace.tenant.handle
      return (await db.selectFrom('connections').select('activities_at').executeTakeFirstOrThrow()).activities_at
    }
    await expect.poll(async () => (await waitsUntil()).getTime() - Date.now(), WITHIN).toBeGreaterThan(60_000)
    // A limit is no error.
    expect(await state()).toEqual({ waiting: 1, error: null })
    bench.hubspot.remainingToday = 250_000
    bench.hubspot.tokens.delete(TOKEN)
    await tryAgain()
    await expect.poll(async () => (await workspace.read()).state, WITHIN).toBe('signed_out')
    bench.hubspot.tokens.add(TOKEN)
    expect((await workspace.tenant.call('PATCH', workspace.path, { credentials: { token: TOKEN } })).status).toBe(200)
    await tryAgain()
    await stored()
    expect(records.of('notes')).toHaveLength(1)
  })

  test('are dropped when the contact is erased, and when the setting is turned off', async () => {
    await enable()
    bench.hubspot.intercept = ({ method, path }) =>
      method === 'POST' && path === '/crm/v3/objects/notes' ? { status: 500, body: {} } : undefined
    const bob = records.create('contacts', { email: 'bob@example.com' })
    await workspace.pull()
    for (const email of ['ada@example.com', 'bob@example.com']) await act('note', email)
    await failed()
    const { contact_id } = await workspace.contact('ada@example.com')
    await erased(workspace.tenant, contact_id)
    expect(await state()).toMatchObject({ waiting: 1 })
    expect((await enable(false)).connection.activities).toBeNull()
    const { rows } = await sql`SELECT FROM connection_activities WHERE tenant_id = ${workspace.tenant.id}`.execute(
      workspace.tenant.handle.unrestricted,
    )
    expect(rows).toEqual([])
    expect(records.associated('contacts', bob, 'notes')).toEqual([])
  })

  test('cannot be stored in a system without activities, or by somebody who may not read agents', async () => {
    const key = await workspace.tenant.keyWith('settings:write', 'contacts:read')
    const denied = await workspace.tenant.call('PUT', `${workspace.path}/activities`, { enabled: true }, key)
    expect([denied.status, denied.body.error.code]).toEqual([403, 'insufficient_scope'])
    const { db } = workspace.tenant.handle
    await db.updateTable('connections').set({ connector: 'mixpanel', state: 'paused' }).execute()
    const { status, body } = await workspace.tenant.call('PUT', `${workspace.path}/activities`, { enabled: true })
    expect([status, body.error.code]).toEqual([409, 'activities_not_supported'])
  })
})
