import { rm } from 'node:fs/promises'
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { commandSession } from '../../test/command-session.ts'
import { importOf, importWithCommand, uploaded } from '../../test/imports.ts'
import { openDirectory } from '../../test/process.ts'
import { claimHeld, hold } from '../../test/runs.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { DATABASE_COMMANDS } from '../cli/commands.ts'
import { takeTurn } from '../platform/runs/kind.ts'
import { claimRun } from '../platform/runs/run.ts'
import type { Tenant } from '../platform/tenant.ts'
import { importDirectory } from './files.ts'
import { IMPORT_ROWS } from './import-object.ts'
import { importKind } from './run.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const HEADER = 'email,firstname\n'

const importText = (content: string | Uint8Array) => importWithCommand(service, tenant, content)

async function contacts(query = ''): Promise<{ properties: Record<string, unknown>; [field: string]: unknown }[]> {
  const path = `/v1/contacts?sort_by=email&sort_dir=asc&limit=100&include=provenance${query}`
  return (await tenant.call('GET', path)).body.contacts
}

const count = async () => (await tenant.call('GET', '/v1/contacts?count_only=true')).body.count

describe('a file', () => {
  test('is imported by the source `import`, with headers in any spelling', async () => {
    const summary = await importText(
      'E-Mail,First Name,last_name,JobTitle,Lifecycle Stage,LEAD-STATUS,Company,Company Domain,LinkedIn URL, Shoe size ,External ID\n' +
        'Ada@Example.com,Ada,Lovelace,Analyst,Lead,new,Acme,https://www.acme.com/,https://l.example/ada,38,u-1\n',
    )
    expect(summary).toMatchObject({ rows: 1, created: 1, updated: 0, unchanged: 0, failed: 0 })
    const [ada] = await contacts()
    expect(ada).toMatchObject({
      properties: {
        email: 'ada@example.com',
        firstname: 'Ada',
        lastname: 'Lovelace',
        jobtitle: 'Analyst',
        lifecyclestage: 'lead',
        lead_status: 'new',
        company: 'Acme',
        company_domain: 'https://www.acme.com/',
        linkedin_url: 'https://l.example/ada',
        'Shoe size': '38',
      },
      creation_source: 'import',
    })
    expect(ada?.properties).not.toHaveProperty('External ID')
    const { body } = await tenant.call('GET', `/v1/contacts/${ada?.contact_id}`)
    expect(body.unified_profile.sources.import).toMatchObject({ external_id: 'u-1' })
    expect(body.unified_profile.sources.import).not.toHaveProperty('synced_at')
    const companies = await tenant.call('GET', '/v1/companies')
    expect(companies.body.companies).toMatchObject([{ company_id: ada?.company_id, domain: 'acme.com', name: 'Acme' }])
    const events = await tenant.call('GET', '/v1/events?event_type=contact_created')
    expect(events.body.events).toMatchObject([{ internal_contact_id: ada?.contact_id }])
  })

  test('imported again changes nothing', async () => {
    const text = 'email,city,id\na@example.com,Rome,1\nb@example.com,,2\n,Oslo,3\n'
    const first = await importText(text)
    expect(first).toMatchObject({ created: 3 })
    const before = [await contacts(), await tenant.handle.db.selectFrom('contact_sources').selectAll().execute()]
    const second = await importText(text)
    expect(second).toMatchObject({ rows: 3, created: 0, updated: 0, unchanged: 3, failed: 0 })
    const after = [await contacts(), await tenant.handle.db.selectFrom('contact_sources').selectAll().execute()]
    expect(after).toEqual(before)
    const events = await tenant.call('GET', '/v1/events?include=system&count_only=true')
    expect(events.body.count).toBe(3)
  })

  test('updates existing contacts; blank cells are ignored, and an email never changes', async () => {
    const id = await tenant.contact('a@example.com', { city: 'Paris', country: 'France' })
    expect(await importText('email,city,country,id\nA@example.com,Rome, ,7\n')).toMatchObject({ updated: 1 })
    expect((await contacts())[0]).toMatchObject({
      contact_id: id,
      properties: { city: 'Rome', country: 'France' },
      properties_provenance: { city: { source: 'import' }, country: { source: 'manual' } },
      creation_source: 'manual',
    })
    expect(await importText('email,id\nother@example.com,7\n')).toMatchObject({ updated: 1 })
    expect((await contacts()).map(({ properties }) => properties.email)).toEqual(['a@example.com'])
  })

  test('may use RFC 4180 quotes, a byte order mark and either line ending', async () => {
    const text =
      '\ufeff"email","firstname",Notes\r\n' +
      'a@example.com,"Ada ""the first"", Countess","two\nlines, and a ; semicolon"\r\n' +
      '\r\n' +
      '"b@example.com",Zoë,"\r\n"\n' +
      'c@example.com, Grace ,\n' +
      'd@example.com,日本,x'
    expect(await importText(text)).toMatchObject({ rows: 4, created: 4 })
    expect((await contacts()).map(({ properties }) => properties)).toEqual([
      { email: 'a@example.com', firstname: 'Ada "the first", Countess', Notes: 'two\nlines, and a ; semicolon' },
      { email: 'b@example.com', firstname: 'Zoë' },
      { email: 'c@example.com', firstname: 'Grace' },
      { email: 'd@example.com', firstname: '日本', Notes: 'x' },
    ])
  })

  test('with only a header has no rows', async () => {
    expect(await importText('email')).toMatchObject({ state: 'completed', rows: 0, created: 0, failed_rows: [] })
  })

  test('of long rows is imported in smaller chunks', async () => {
    const long = 'x'.repeat(60_000)
    const rows = Array.from({ length: 150 }, (_, n) => `p${n}@example.com,${long}\n`)
    const summary = await importText(`email,story\n${rows.join('')}`)
    expect(summary).toMatchObject({ rows: 150, created: 150 })
    const contact = tenant.handle.db.selectFrom('contacts').select('created_at').distinct()
    expect((await contact.execute()).length).toBeGreaterThan(1)
  })

  test('is imported in order across chunks: of several rows of one contact, the last one wins', async () => {
    const rows = Array.from({ length: 2_600 }, (_, n) => `p${n % 1_300}@example.com,${n}`)
    const summary = await importText(`email,turn\n${rows.join('\n')}\n`)
    expect(summary).toMatchObject({ rows: 2_600, created: 1_300, updated: 1_300, failed: 0 })
    expect(await count()).toBe(1_300)
    const found = await tenant.call('GET', '/v1/contacts?search=p77@example.com')
    expect(found.body.contacts[0].properties.turn).toBe('1377')
    // Adjacent rows as well.
    const next = await importText(`email,turn\n${'x@example.com,1\n'.repeat(700)}x@example.com,last\n`)
    expect(next).toMatchObject({ created: 1, updated: 1, unchanged: 699 })
  })
})

test('an invalid row fails alone, and the summary has its error', async () => {
  const { failed_rows: failed, ...summary } = await importText(
    'email,firstname,lifecyclestage,company_domain,external_id\n' +
      'a@example.com,A,lead,,\n' +
      'nobody,B,lead,,\n' +
      ',C,lead,,\n' +
      '"say ""hi"", you@",D,lead,,9\n' +
      'e@example.com,E,Boss,,\n' +
      'f@example.com,F,lead\n' +
      'g@example.com,G,lead,,,more\n' +
      'h@example.com,H,lead,no domain,\n' +
      `i@example.com,${'x'.repeat(65_537)},lead,,\n` +
      `j@example.com,J,lead,,${'x'.repeat(201)}\n` +
      ',,,,\n' +
      ',K,lead,,k-1\n' +
      'z@example.com,Z,lead,,\n',
  )
  // The row of blank cells is no row.
  expect(summary).toMatchObject({ rows: 12, created: 3, failed: 9 })
  const expected = ['“nobody” in email', 'email is blank', 'you@” in email', '“boss” in lifecyclestage']
  const more = [
    'has 3 cells',
    'has 6 cells',
    '“no domain” in company_domain',
    'in firstname is longer',
    'ID in external_id',
  ]
  expect(failed).toEqual(
    [...expected, ...more].map((text, index) => ({
      row: index + 2,
      message: expect.stringContaining(text),
    })),
  )
  expect(await count()).toBe(3)
})

describe('an invalid file is rejected before anything is written', () => {
  test.each([
    ['an empty file', '', 'is empty'],
    ['blank lines alone', '\n\n\n', 'is empty'],
    ['no column to find contacts by', 'firstname,city\nAda,Rome\n', 'neither an email nor an external_id column'],
    ['data without a header', 'ada@example.com,Ada\n', 'has no header'],
    ['501 columns', `email,${Array.from({ length: 500 }, (_, n) => `c${n}`).join(',')}\n`, '501 columns'],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'is a picture'],
    ['control characters', Buffer.from('00010203040506070809', 'hex'), 'is not text'],
    ['an open quotation mark in its header', 'email,"city\na@example.com,Rome\n', 'line 1 has a quotation mark'],
  ])('%s', async (_name, content, message) => {
    await expect(importText(content)).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringContaining(message),
    })
    expect(await count()).toBe(0)
    expect((await tenant.call('GET', '/v1/imports')).body.imports).toEqual([])
  })
})

test('a row that would give its contact too many properties says so in words', async () => {
  const properties = Object.fromEntries(Array.from({ length: 499 }, (_, n) => [`p${n}`, n]))
  await tenant.contact('full@example.com', properties)
  const { failed_rows: failed } = await importText('email,one more\nfull@example.com,x\n')
  expect(failed).toEqual([
    { row: 1, message: 'The contact would have more than 500 properties. Import fewer columns.' },
  ])
})

test('a row that would make its contact too large fails alone', async () => {
  const long = 'x'.repeat(60_000)
  const { created, failed_rows: failed } = await importText(
    `email,a,b,c\nada@example.com,${long},${long},${long}\nbob@example.com,1,2,3\n`,
  )
  expect(created).toBe(1)
  expect(failed).toMatchObject([{ row: 1, message: expect.stringContaining('would exceed 256 KiB') }])
  expect(await count()).toBe(1)
})

describe('a file that a person wrote is read as in the dashboard:', () => {
  const MAC = Buffer.from('email,company\na@example.com,M\x9fnchen\n', 'latin1')
  test.each([
    [
      'semicolons and a title',
      'Contacts\n\nemail;company\na@example.com;M\u00fcnchen\n',
      { delimiter: ';', header_line: 3 },
    ],
    ['Mac Roman', MAC, { encoding: 'macintosh' }],
    ['UTF-16', Buffer.from('\ufeffemail,company\na@example.com,M\u00fcnchen\n', 'utf16le'), { encoding: 'utf-16le' }],
    ['sep=', 'sep=|\nemail|company\na@example.com|M\u00fcnchen\n', { delimiter: '|', header_line: 2 }],
  ])('%s', async (_, content, expected) => {
    expect(await importText(content)).toMatchObject({ created: 1, failed: 0, ...expected })
    expect((await contacts())[0]?.properties).toEqual({ email: 'a@example.com', company: 'M\u00fcnchen' })
  })

  test('columns that repeat or have no name are kept or ignored, and the summary says which', async () => {
    const summary = await importText('Email,City,city,,__proto__\na@example.com,Rome,Bonn,x,y\n')
    expect((await contacts())[0]?.properties).toEqual({ email: 'a@example.com', city: 'Rome', 'city 2': 'Bonn' })
    expect(summary.warnings).toEqual(['city was imported as a property of its own, because City is the city.'])
  })

  test('values stay texts, also those that look like numbers', async () => {
    await importText('email,plot\na@example.com,17\n')
    expect((await contacts())[0]?.properties.plot).toBe('17')
  })
})

test('a row that cannot be read fails alone, wherever it is', async () => {
  const sound = Array.from({ length: 3_000 }, (_, n) => `p${n}@example.com,x\n`).join('')
  const long = `q@example.com,"${'long '.repeat(300_000)}"\n`
  const summary = await importText(`${HEADER}${sound}a@example.com,"never closed\n${long}z@example.com,"Zoë"\n`)
  expect(summary).toMatchObject({ rows: 3_003, created: 3_001, failed: 2 })
  expect(summary.failed_rows).toMatchObject([
    { row: 3_001, message: expect.stringContaining('Line 3002') },
    { row: 3_002, message: expect.stringContaining('MiB') },
  ])
})

/** An import that has started, and that only the test works on. */
async function started(content: string): Promise<string> {
  const { import_id } = await uploaded(tenant, content)
  const row = tenant.handle.db.updateTable('imports').where('import_id', '=', import_id)
  await row.set({ task: 'import', status: 'queued', imported_at: new Date() }).execute()
  return import_id
}

const dependencies = () => ({ writing: service.writing, directory: importDirectory(service.config.dataDirectory) })
/** Works on an import until it ends, in place of the service. */
async function runImport(handle: Tenant, importId: string): Promise<void> {
  const run = await claimHeld(IMPORT_ROWS, tenant.handle, importId)
  await takeTurn(importKind(dependencies()), service, { ...run, tenant: handle }, new AbortController().signal)
}

test('of two processes that work on an import, the second is refused, and each row is written and counted once', async () => {
  const rows = Array.from({ length: 1_500 }, (_, n) => `p${n}@example.com,x,c${n % 9}.com\n`).join('')
  const importId = await started(`email,city,company_domain\n${rows}`)
  let second: Promise<unknown> | undefined
  const withASecond: typeof tenant.handle.transaction = async (work) => {
    second ??= claimRun(IMPORT_ROWS, tenant.handle, importId, new Date())
    await second
    return tenant.handle.transaction(work)
  }
  await runImport({ ...tenant.handle, transaction: withASecond }, importId)
  expect(await second).toBeNull()
  const counts = { created: 1_500, updated: 0, unchanged: 0, failed: 0 }
  expect(await importOf(tenant, importId)).toMatchObject({ state: 'completed', counts })
  expect(await count()).toBe(1_500)
  expect((await tenant.call('GET', '/v1/companies?count_only=1')).body.count).toBe(9)
})

test('a command whose data directory lacks the file waits for a process that has it', async () => {
  const importId = await started(`${HEADER}ada@example.com,Ada\n`)
  const session = commandSession(service)
  const dataDirectory = await openDirectory()
  onTestFinished(() => rm(dataDirectory, { recursive: true, force: true }))
  const elsewhere = { ...session, serviceRuns: false, config: { ...session.config, dataDirectory } }
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  const values = { tenant: tenant.id, 'import-id': importId }
  const following = DATABASE_COMMANDS['import follow']?.run(elsewhere, values, new Date())
  await expect.poll(() => printed.mock.calls.join()).toContain('waiting: ')
  await runImport(tenant.handle, importId)
  expect(await following).toMatchObject({ state: 'completed', created: 1 })
  printed.mockRestore()
})

test('a process that has lost its claim writes nothing more', async () => {
  const rows = Array.from({ length: 10_000 }, (_, n) => `p${n}@example.com,x\n`).join('')
  const importId = await started(HEADER + rows)
  const claims = tenant.handle.db.updateTable('imports').where('import_id', '=', importId)
  let transactions = 0
  const losing: typeof tenant.handle.transaction = async (work) => {
    const result = await tenant.handle.transaction(work)
    if (++transactions === 2) await claims.set({ claim: crypto.randomUUID() }).execute()
    return result
  }
  const handle = { ...tenant.handle, transaction: losing }
  await runImport(handle, importId)
  const { state, counts } = await importOf(tenant, importId)
  expect([state, await count()]).toEqual(['running', counts.created])
  expect(counts.created).toBeLessThan(10_000)
  await runImport(tenant.handle, importId)
  expect(await importOf(tenant, importId)).toMatchObject({ state: 'completed', counts: { created: 10_000 } })
})

test('an import stops if the database goes down, and continues where it stopped', async () => {
  const rows = Array.from({ length: 10_000 }, (_, n) => `p${n}@example.com,x\n`).join('')
  const importId = await started(HEADER + rows)
  let transactions = 0
  const failing = {
    ...tenant.handle,
    transaction: (work: never) => {
      if (++transactions > 2) return Promise.reject(new Error('the database is away'))
      return tenant.handle.transaction(work)
    },
  }
  await runImport(failing as never, importId)
  await hold(IMPORT_ROWS, tenant.handle, importId)
  const counts = { created: 4_000, updated: 0, unchanged: 0, failed: 0 }
  expect(await importOf(tenant, importId)).toMatchObject({ state: 'running', counts })
  expect(await count()).toBe(4_000)
  await runImport(tenant.handle, importId)
  const all = { ...counts, created: 10_000 }
  expect(await importOf(tenant, importId)).toMatchObject({ state: 'completed', counts: all })
  expect(await count()).toBe(10_000)
})
