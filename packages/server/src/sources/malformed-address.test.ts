import { expect, test } from 'vitest'
import { createHook, send } from '../../test/hooks.ts'
import { act, uploaded } from '../../test/imports.ts'
import { connect, pulled, useScriptedSystem } from '../../test/scripted-connector.ts'

/*
 * A record with a malformed address fails, but its id names the contact: the opt-outs in it, and only they, are written.
 */

const EMAIL = 'ada@example.com'
const MALFORMED = 'not an address'

const bench = useScriptedSystem()

/** The only contact: what decides that it is not written to, and a property that must not have been written. */
async function contact() {
  const { contacts } = (await bench.tenant.call('GET', '/v1/contacts')).body
  expect(contacts).toHaveLength(1)
  const { email, firstname } = contacts[0].properties
  return { email, firstname, silencedBy: contacts[0].consent?.property ?? null }
}

const SILENT = { email: EMAIL, firstname: 'Ada', silencedBy: 'hs_email_optout' }
const OPT_OUT = { hs_email_optout: true, firstname: 'Eve' }

test('of a source', async () => {
  const push = async (...records: object[]) =>
    (await bench.tenant.call('POST', '/v1/sources/hubspot/contacts', { records })).body.results
  await push({ external_id: 'h4', email: EMAIL, properties: { firstname: 'Ada', hs_email_optout: false } })
  const [failed, unknown] = await push(
    { external_id: 'h4', email: MALFORMED, properties: OPT_OUT },
    { external_id: 'h5', email: MALFORMED, properties: OPT_OUT },
  )
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'validation_error' } })
  expect(failed).not.toHaveProperty('contact_id')
  expect(unknown).toMatchObject({ status: 'failed' })
  expect(await contact()).toEqual(SILENT)
  // What contradicts an opt-out is not written, nor is a record that has other errors.
  await push({ external_id: 'h4', email: MALFORMED, properties: { hs_email_optout: false } })
  expect(await contact()).toEqual(SILENT)
  await push({ external_id: 'h4', email: EMAIL, properties: { hs_email_optout: false } })
  expect(await contact()).toMatchObject({ silencedBy: null })
  const invalid = { external_id: 'h4', properties: { email: MALFORMED, bounced: true, nested: {} } }
  const inside = { external_id: 'h4', properties: { email: MALFORMED, unsubscribed: true } }
  await push(invalid)
  expect(await contact()).toMatchObject({ silencedBy: null })
  await push(inside)
  expect(await contact()).toMatchObject({ silencedBy: 'unsubscribed' })
})

test('of a source, under an id that names nobody, or repeated among others of the contact', async () => {
  const push = async (...records: object[]) =>
    (await bench.tenant.call('POST', '/v1/sources/hubspot/contacts', { records })).body.results
  const record = { external_id: 'h4', email: EMAIL, properties: { firstname: 'Ada' } }
  await push(record)
  await push({ external_id: 'undefined', email: MALFORMED, properties: OPT_OUT })
  expect(await contact()).toMatchObject({ silencedBy: null })
  const malformed = { external_id: 'h4', email: MALFORMED, properties: OPT_OUT }
  for (let round = 0; round < 2; round++) {
    const results = await push(malformed, record, malformed)
    expect(results.map(({ status }: { status: string }) => status)).toEqual(['failed', 'unchanged', 'failed'])
    expect(await contact()).toEqual(SILENT)
  }
})

test('of a connected system', async () => {
  const path = await connect(bench.tenant)
  const { run_id } = await pulled(bench.tenant, path)
  const read = async (record: { email: string; properties: Record<string, unknown> }, since: string) => {
    bench.system.pages = [{ contacts: [{ external_id: 'c1', ...record }] }]
    await bench.tenant.call('POST', `${path}/reread`, {})
    return (await pulled(bench.tenant, path, since)).run_id
  }
  const first = await read({ email: EMAIL, properties: { firstname: 'Ada' } }, run_id)
  const second = await read({ email: MALFORMED, properties: OPT_OUT }, first)
  expect(await contact()).toEqual(SILENT)
  const { errors } = (await bench.tenant.call('GET', `${path}/errors`)).body
  expect(errors).toEqual([expect.objectContaining({ external_id: 'c1', code: 'invalid_email' })])
  // What it has said before is not said again, after a person has decided otherwise.
  const [{ contact_id }] = (await bench.tenant.call('GET', '/v1/contacts')).body.contacts
  await bench.tenant.call('PUT', `/v1/contacts/${contact_id}`, { properties: { hs_email_optout: false } })
  await read({ email: MALFORMED, properties: OPT_OUT }, second)
  expect(await contact()).toMatchObject({ silencedBy: null })
})

test('of a profile of an analytics system', async () => {
  await bench.tenant.call('POST', '/v1/identify', { user_id: 'u1', email: EMAIL, properties: { firstname: 'Ada' } })
  const path = await connect(bench.tenant)
  const { run_id } = await pulled(bench.tenant, path)
  const profile = { id: 'p1', userId: 'u1', email: MALFORMED, visitorIds: [], properties: OPT_OUT }
  bench.system.pages = [{ profiles: [profile] }]
  await bench.tenant.call('POST', `${path}/reread`, {})
  await pulled(bench.tenant, path, run_id)
  expect(await contact()).toEqual(SILENT)
})

test('of a row of a file; the preview counts it', async () => {
  const importing = async (text: string) => act(bench.tenant, await uploaded(bench.tenant, text), 'start', 'completed')
  await importing(`external_id,email,firstname\nx1,${EMAIL},Ada\n`)
  const text = `external_id,email,firstname,hs_email_optout\nx1,${MALFORMED},Eve,true\nx2,${MALFORMED},Eve,true\n`
  const file = await act(bench.tenant, await uploaded(bench.tenant, text), 'preview', 'previewed')
  expect(file.consent).toMatchObject({ silenced: 1, still_silent: 0, released: 0, columns: [{ contacts: 1 }] })
  const done = await act(bench.tenant, file, 'start', 'completed')
  expect(done.counts).toMatchObject({ created: 0, updated: 0, failed: 2 })
  expect(await contact()).toEqual(SILENT)
  await act(bench.tenant, done, 'undo', 'undone')
  expect(await contact()).toMatchObject({ firstname: 'Ada', silencedBy: null })
})

test.each([
  ["the sender's id", 'external_id'],
  ["the tenant's own id", 'user_id'],
])('of a body of a hook, under %s', async (_, key) => {
  const properties = { firstname: { path: 'name' }, hs_email_optout: { path: 'out' } }
  const mapping = { contact: { email: { path: 'email' }, [key]: { path: 'id' }, properties } }
  const hook = await createHook(bench.tenant, { kind: 'custom', mapping })
  const received = async (body: object) => (await send(bench.service, hook, JSON.stringify(body))).body.state
  expect(await received({ id: 'a1', email: EMAIL, name: 'Ada' })).toBe('recorded')
  expect(await received({ id: 'a1', email: MALFORMED, name: 'Eve', out: true })).toBe('failed')
  expect(await received({ id: 'a2', email: MALFORMED, name: 'Eve', out: true })).toBe('failed')
  expect(await contact()).toEqual(SILENT)
})
