import { existsSync, readFileSync } from 'node:fs'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { commandSession } from '../../test/command-session.ts'
import { act, ended, importOf, uploaded } from '../../test/imports.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { DATABASE_COMMANDS } from '../cli/commands.ts'
import { deleteImportFiles } from './expire.ts'
import { fileOf, importDirectory } from './files.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}.csv`, import.meta.url), 'utf8')

async function contactOf(email: string) {
  const { body } = await tenant.call('GET', `/v1/contacts?search=${email}&include=provenance`)
  return body.contacts[0]
}

const count = async () => (await tenant.call('GET', '/v1/contacts?count_only=true')).body.count

describe('an export is imported as it was proposed:', () => {
  test('HubSpot', async () => {
    const done = await act(tenant, await uploaded(tenant, fixture('hubspot')), 'start', 'completed')
    expect(done).toMatchObject({
      counts: { created: 3, updated: 0, unchanged: 0, failed: 0 },
      row_count: 3,
      progress: 1,
    })
    expect(await contactOf('ada@analytical.example')).toMatchObject({
      properties: {
        lifecyclestage: 'mql',
        numberofemployees: 120,
        company: 'Analytical Engines',
        phone: '+44 20 7946 0000',
      },
      creation_source: 'import',
    })
    // An apostrophe that a download added is removed.
    const charles = await contactOf('charles@analytical.example')
    expect(charles.properties).toMatchObject({ phone: '+44 20 7946 0001', numberofemployees: 1200, unsubscribed: true })
  })

  test('Mailchimp', async () => {
    await act(tenant, await uploaded(tenant, fixture('mailchimp')), 'start', 'completed')
    const ada = await contactOf('ada@analytical.example')
    expect(ada.properties).toMatchObject({ firstname: 'Ada', NOTES: 'Met at the fair.\nWants a demo.', country: 'GB' })
    expect(ada.properties).not.toHaveProperty('OPTIN_IP')
    expect((await contactOf('charles@analytical.example')).properties.unsubscribed).toBe('2026-01-09 12:30:00')
  })

  test('Attio', async () => {
    await act(tenant, await uploaded(tenant, fixture('attio')), 'start', 'completed')
    const ada = await contactOf('ada@analytical.example')
    expect(ada.properties).toMatchObject({ firstname: 'Ada', lastname: 'Lovelace', jobtitle: 'Countess' })
    const { body } = await tenant.call('GET', `/v1/contacts/${ada.contact_id}`)
    expect(body.unified_profile.sources.import.external_id).toBe('0b1f7d3a-1c2d-4e5f-8a9b-0c1d2e3f4a5b')
  })
})

test('a preview says what the import does, and changes nothing', async () => {
  const ada = await tenant.contact('ada@example.com', { city: 'Paris', phone: '1' })
  await tenant.contact('same@example.com', { city: 'Rome' })
  const text =
    'email,city,seats\nada@example.com,Rome,7\nsame@example.com,Rome,\nnew@example.com,Oslo,x\nnobody,Bonn,\nada@example.com,Bern,8\n'
  const created = await uploaded(tenant, text)
  const unready = await tenant.call('GET', `/v1/imports/${created.import_id}/preview`)
  expect([unready.status, unready.body.error.code]).toEqual([409, 'import_not_previewed'])
  const columns = [
    { column: 0, target: 'email' },
    { column: 1, target: 'property', property: 'city' },
    { column: 2, target: 'property', property: 'seats', type: 'number' },
  ]
  const mapped = await tenant.call('PUT', `/v1/imports/${created.import_id}/mapping`, { columns })
  expect(mapped.body.import).toMatchObject({ state: 'mapped', mapping: columns })
  const previewed = await act(tenant, created, 'preview', 'previewed')
  // The unchanged contact gets the source's record, as in the import.
  const counts = { created: 0, updated: 3, unchanged: 0, failed: 2 }
  expect(previewed).toMatchObject({ preview: counts, row_count: 5, counts: { created: 0, updated: 0 } })
  const { body } = await tenant.call('GET', `/v1/imports/${created.import_id}/preview`)
  const printed = { tenant: tenant.id, 'import-id': created.import_id }
  const command = DATABASE_COMMANDS['import-preview get']
  const { consent } = body
  expect(await command?.run(commandSession(service), printed, new Date())).toEqual({ counts, consent, rows: body.rows })
  expect(body.counts).toEqual(counts)
  expect(body.rows).toMatchObject([
    {
      row: 1,
      status: 'updated',
      contact_id: ada,
      changes: [
        { property: 'city', before: 'Paris', after: 'Rome' },
        { property: 'seats', before: null, after: '7' },
      ],
    },
    { row: 2, status: 'updated', changes: [] },
    { row: 3, status: 'failed', contact_id: null, error: { code: 'validation_error' } },
    { row: 4, status: 'failed' },
    { row: 5, status: 'updated', changes: [{ property: 'city', before: 'Rome', after: 'Bern' }, {}] },
  ])
  expect(await count()).toBe(2)
  expect((await contactOf('ada@example.com')).properties.city).toBe('Paris')
  expect(await act(tenant, created, 'start', 'completed')).toMatchObject({ counts })
  expect((await contactOf('ada@example.com')).properties).toMatchObject({ city: 'Bern', seats: 8, phone: '1' })
})

test('failed rows can be downloaded with their cells, corrected and imported', async () => {
  const text = 'Email;Name\nok@example.com;Ok\nnobody;"=No; body"\nalso@example.com;Also;x\n'
  const done = await act(tenant, await uploaded(tenant, text), 'start', 'completed')
  expect(done).toMatchObject({ counts: { created: 1, failed: 2 }, errors: [{ row: 2 }, { row: 3 }] })
  expect(done.failed_rows_url).toBe(`/v1/imports/${done.import_id}/failed.csv`)
  const { body, headers } = await tenant.call('GET', done.failed_rows_url ?? '')
  expect(headers.get('content-type')).toContain('text/csv')
  const lines = body.replace('\ufeff', '').trimEnd().split('\r\n')
  expect(lines).toEqual([
    'import_row,import_error,Email,Name',
    `2,“nobody” in Email is not an email address. Write it like ada@example.com.,nobody,"'=No; body"`,
    '3,"Line 4 has 3 cells, but the header has 2. Check its quotation marks and separators.",also@example.com,Also,x',
  ])
  const again = await uploaded(tenant, `${lines[0]}\n${lines[1]?.replaceAll('nobody', 'body@example.com')}\n`)
  expect(await act(tenant, again, 'start', 'completed')).toMatchObject({ counts: { created: 1 } })
  expect((await contactOf('body@example.com')).properties).toEqual({ email: 'body@example.com', Name: '=No; body' })
})

test('a row far down that cannot be read fails alone, and its error names the line', async () => {
  const rows = Array.from({ length: 5_000 }, (_, n) => `p${n}@example.com,x\n`).join('')
  const file = await uploaded(tenant, `email,city\n${rows}bad@example.com,"never closed\nlast@example.com,x\n`)
  const done = await act(tenant, file, 'start', 'completed')
  expect(done).toMatchObject({ counts: { created: 5_001, failed: 1 }, errors: [{ row: 5_001 }] })
  expect(done.errors[0]?.message).toContain('Line 5002')
})

describe('a mapping is rejected', () => {
  test.each([
    ['without a key', [{ column: 1, target: 'property', property: 'city' }], 'email or the external_id'],
    ['with two emails', [0, 1].map((column) => ({ column, target: 'email' })), 'two columns'],
    ['with a column twice', [0, 0].map((column) => ({ column, target: 'email' })), 'mapped twice'],
    ['with an unknown column', [{ column: 9, target: 'email' }], '2 columns'],
    [
      'without a property',
      [
        { column: 0, target: 'email' },
        { column: 1, target: 'property' },
      ],
      'is required',
    ],
    ['with email as a property', [{ column: 0, target: 'property', property: 'email' }], 'is reserved'],
    ['with __proto__', [{ column: 0, target: 'property', property: '__proto__' }], 'is reserved'],
    ['with an unknown target', [{ column: 0, target: 'nowhere' }], 'must be one of'],
  ])('%s', async (_, columns, message) => {
    const { import_id } = await uploaded(tenant, 'email,city\n')
    const { status, body } = await tenant.call('PUT', `/v1/imports/${import_id}/mapping`, { columns })
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
    expect(JSON.stringify(body.error.details)).toContain(message)
    expect((await importOf(tenant, import_id)).state).toBe('uploaded')
  })
})

test('an import cannot be started without a key, twice, or beside another one', async () => {
  const keyless = await uploaded(tenant, 'name\nAda\n')
  const call = (id: string, action: string) => tenant.call('POST', `/v1/imports/${id}/${action}`)
  for (const action of ['start', 'preview']) {
    const { status, body } = await call(keyless.import_id, action)
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
  }
  const done = await act(tenant, await uploaded(tenant, 'email\nada@example.com\n'), 'start', 'completed')
  for (const action of ['start', 'preview', 'cancel']) {
    const { status, body } = await call(done.import_id, action)
    expect([status, body.error.code]).toEqual([409, 'invalid_import_state'])
  }
  const other = await uploaded(tenant, 'email\nbob@example.com\n')
  const imports = tenant.handle.db.updateTable('imports')
  // A preview belongs to one mapping.
  await imports.set({ task: 'preview', status: 'running' }).where('import_id', '=', other.import_id).execute()
  const columns = [{ column: 0, target: 'email' }]
  const mapped = await tenant.call('PUT', `/v1/imports/${other.import_id}/mapping`, { columns })
  expect([mapped.status, mapped.body.error.code]).toEqual([409, 'invalid_import_state'])
  await imports.set({ status: 'waiting', waiting_for: 'mapped' }).where('import_id', '=', other.import_id).execute()
  await imports.set({ task: 'import', status: 'running' }).where('import_id', '=', keyless.import_id).execute()
  const { status, body } = await call(other.import_id, 'start')
  expect([status, body.error.code]).toEqual([409, 'another_import_running'])
})

test('a cancelled import writes no further row, keeps what it wrote, and can be undone', async () => {
  const rows = Array.from({ length: 40_000 }, (_, n) => `p${n}@example.com,${'x'.repeat(50)}\n`).join('')
  const { import_id } = await uploaded(tenant, `email,city\n${rows}`)
  await tenant.call('POST', `/v1/imports/${import_id}/start`)
  await expect
    .poll(async () => (await importOf(tenant, import_id)).counts.created, { timeout: 120_000 })
    .toBeGreaterThan(0)
  const { status, body } = await tenant.call('POST', `/v1/imports/${import_id}/cancel`)
  expect([status, body.cancelled, body.import.state]).toEqual([200, true, 'cancelled'])
  const written = await count()
  expect(written).toBe(body.import.counts.created)
  expect(written).toBeLessThan(40_000)
  expect((await tenant.call('POST', `/v1/imports/${import_id}/cancel`)).body.cancelled).toBe(false)
  const undone = await act(tenant, body.import, 'undo', 'undone')
  expect(undone.undo).toEqual({ deleted: written, restored: 0, kept: 0, companies_deleted: 0 })
  expect(await count()).toBe(0)
})

test('an import that never started is cancelled with its file', async () => {
  const { import_id } = await uploaded(tenant, 'email\nada@example.com\n')
  const path = fileOf(importDirectory(service.config.dataDirectory), import_id)
  await tenant.call('POST', `/v1/imports/${import_id}/cancel`)
  await expect.poll(() => existsSync(path)).toBe(false)
  await expect.poll(async () => (await importOf(tenant, import_id)).has_file).toBe(false)
  const { status, body } = await tenant.call('POST', `/v1/imports/${import_id}/undo`)
  expect([status, body.error.code]).toEqual([409, 'invalid_import_state'])
})

test('an erasure deletes the files that may contain the person, and what imports replaced of theirs', async () => {
  const id = await tenant.contact('ada@example.com', { city: 'Paris' })
  const done = await act(
    tenant,
    await uploaded(tenant, 'email,city\nada@example.com,Rome\nno,x\n'),
    'start',
    'completed',
  )
  const waiting = await uploaded(tenant, 'email\nada@example.com\n')
  await tenant.call('POST', '/v1/erasures', { contact_id: id })
  await ended(tenant, waiting.import_id, 'cancelled')
  for (const { import_id } of [done, waiting]) {
    await expect.poll(async () => (await importOf(tenant, import_id)).has_file).toBe(false)
    const found = await importOf(tenant, import_id)
    expect(JSON.stringify(found)).not.toMatch(/ada@example|Rome/)
    expect(existsSync(fileOf(importDirectory(service.config.dataDirectory), import_id))).toBe(false)
  }
  expect(await importOf(tenant, done.import_id)).toMatchObject({ errors: [], failed_rows_url: null })
  expect((await importOf(tenant, waiting.import_id)).error?.code).toBe('import_file_deleted')
  expect(await tenant.handle.db.selectFrom('import_changes').selectAll().execute()).toEqual([])
  const { status, body } = await tenant.call('GET', `/v1/imports/${done.import_id}/failed.csv`)
  expect([status, body.error.code]).toEqual([409, 'import_file_deleted'])
  // A file that is uploaded later stays.
  const later = await uploaded(tenant, 'email\nada@example.com\n')
  await deleteImportFiles(tenant.handle, '/nowhere', new Date(Date.parse(later.created_at) - 1), new Date())
  expect((await importOf(tenant, later.import_id)).has_file).toBe(true)
})

test('an import whose file was deleted can be neither previewed nor started', async () => {
  const unmapped = 'phone\n1\n'
  const failing = await uploaded(tenant, unmapped)
  const waiting = await uploaded(tenant, 'email\nada@example.com\n')
  // Deleting a file ends a waiting import, so only a failed import can be without its file.
  await tenant.handle.db
    .updateTable('imports')
    .set({ status: 'failed' })
    .where('import_id', '=', failing.import_id)
    .execute()
  await tenant.handle.db.updateTable('imports').set({ has_file: false }).execute()
  for (const [importId, action] of [
    [failing.import_id, 'start'],
    [waiting.import_id, 'start'],
    [waiting.import_id, 'preview'],
  ]) {
    const { status, body } = await tenant.call('POST', `/v1/imports/${importId}/${action}`)
    expect([status, body.error.code]).toEqual([409, 'import_file_deleted'])
  }
})

test('a small file does not wait until the large files of other tenants are imported', async () => {
  const owners = await Promise.all([1, 2].map(() => createTestTenant(service)))
  const files = owners.map(async (owner) => {
    await owner.contact('ada@example.com', { city: 'Paris' })
    return uploaded(owner, 'email,city\nada@example.com,Rome\n')
  })
  const ids = (await Promise.all(files)).map(({ import_id }) => import_id)
  const { database } = service.stores
  await database.updateTable('imports').set({ size_bytes: 6_000_000 }).where('import_id', 'in', ids).execute()
  await database.transaction().execute(async (tx) => {
    // Both imports wait for the contact that they change.
    const tenantIds = owners.map(({ id }) => id)
    await tx.selectFrom('contacts').select('contact_id').where('tenant_id', 'in', tenantIds).forUpdate().execute()
    for (const [index, id] of ids.entries()) await owners[index]?.call('POST', `/v1/imports/${id}/start`)
    await expect
      .poll(async () => {
        const busy = await database.selectFrom('imports').where('import_id', 'in', ids).select('status').execute()
        return busy.map(({ status }) => status)
      })
      .toEqual(['running', 'running'])
    const { import_id } = await uploaded(tenant, 'email\nbob@example.com\n')
    await tenant.call('POST', `/v1/imports/${import_id}/start`)
    // The other imports wait longer than this for the lock.
    const state = async () => (await importOf(tenant, import_id)).state
    await expect.poll(state).toBe('completed')
  })
  for (const [index, id] of ids.entries()) await ended(owners[index] ?? tenant, id, 'completed')
})
