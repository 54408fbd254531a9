import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { uploaded } from '../../test/imports.ts'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { simultaneously } from '../../test/simultaneous.ts'
import { createImport } from './create-import.ts'
import { FILE_BYTES_MAX, fileOf, importDirectory } from './files.ts'

let service: TestService
let tenant: TestTenant
let directory: string

beforeAll(async () => {
  service = await sharedService()
  directory = importDirectory(service.config.dataDirectory)
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}.csv`, import.meta.url), 'utf8')
const files = () => (existsSync(directory) ? readdirSync(directory) : [])
/** The service removes files of earlier tests meanwhile. */
const filesSince = (before: readonly string[]) => files().filter((file) => !before.includes(file))

test('a file is kept if the connection is lost after the commit', async () => {
  const { handle } = tenant
  const stored = () => handle.db.selectFrom('imports').select('import_id').executeTakeFirst()
  const lost: typeof handle.transaction = async (work) => {
    const result = await handle.transaction(work)
    if (await stored()) throw new Error('connection lost')
    return result
  }
  const services = { secrets: service.secrets, clock: () => new Date(), directory }
  const caller = { tenant: { ...handle, transaction: lost }, actor: { kind: 'service' } as const }
  const sent = {
    name: 'lost.csv',
    body: Readable.from([Buffer.from('email\nada@example.com\n')]),
    decoder: null,
    bytes: Number.NaN,
  }
  await expect(createImport(services, caller, sent)).rejects.toThrow('connection lost')
  expect(existsSync(fileOf(directory, (await stored())?.import_id ?? ''))).toBe(true)
})

test('If-Match is refused', async () => {
  const headers = { authorization: `Bearer ${tenant.key}`, 'content-type': 'text/csv', 'if-match': '"a"' }
  const response = await call(service, 'POST', '/v1/imports', { headers, body: 'email\nada@example.com\n' })
  expect([response.status, response.body.error.code]).toEqual([400, 'if_match_not_supported'])
})

describe('an export is recognized, and its columns are mapped', () => {
  test.each([
    [
      'hubspot',
      {
        'Record ID': 'external_id',
        Email: 'email',
        'First Name': 'firstname',
        'Phone Number': 'phone (phone)',
        // One of two columns gets the target.
        'Company Name': 'company',
        'Associated Company': 'Associated Company',
        'Lifecycle Stage': 'lifecyclestage',
        'Number of Employees': 'numberofemployees (number)',
        'State/Region': 'state',
        'Unsubscribed from all email': 'unsubscribed (boolean)',
      },
    ],
    [
      'mailchimp',
      {
        'Email Address': 'email',
        EUID: 'external_id',
        LEID: 'ignore',
        CC: 'country',
        REGION: 'state',
        UNSUB_TIME: 'unsubscribed',
        TAGS: 'tags (list)',
        MEMBER_RATING: 'MEMBER_RATING (number)',
      },
    ],
    [
      'attio',
      {
        'Record ID': 'external_id',
        'Email addresses': 'email',
        'Name > First name': 'firstname',
        'Name > Last name': 'lastname',
        Company: 'company',
        LinkedIn: 'linkedin_url',
        'Avatar URL': 'ignore',
      },
    ],
  ])('%s', async (name, expected) => {
    const found = await uploaded(tenant, fixture(name), `${name}.csv`)
    expect(found).toMatchObject({ file_name: `${name}.csv`, recognized_as: name, state: 'uploaded', row_count: null })
    const targets = found.mapping.map(({ column, target, property, type }) => [
      found.columns[column]?.header,
      target === 'property' ? `${property}${type === 'text' ? '' : ` (${type})`}` : target,
    ])
    expect(Object.fromEntries(targets)).toMatchObject(expected)
  })

  test('any other file by the names of its columns', async () => {
    const found = await uploaded(tenant, 'E-Mail,Vorname,Surname,Organisation,Plan,email\na@example.com,A,B,C,x,y\n')
    expect(found.recognized_as).toBe(null)
    expect(found.mapping.map(({ target, property }) => property ?? target)).toEqual([
      'email',
      'firstname',
      'lastname',
      'company',
      'Plan',
      'email 2',
    ])
    expect(found.columns[4]).toEqual({ header: 'Plan', samples: ['x'], note: null, is_ambiguous: false, example: null })
  })
})

describe('the encoding and the delimiter are detected', () => {
  const text = 'Email;City\nada@example.com;Köln\n'
  test.each([
    ['utf-8', ';', Buffer.from(text)],
    ['utf-8', ',', Buffer.from(`\ufeff${text.replaceAll(';', ',')}`)],
    ['utf-8', '\t', Buffer.from(text.replaceAll(';', '\t'))],
    ['windows-1252', ';', Buffer.from(text, 'latin1')],
    ['utf-16le', ';', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['utf-16be', ';', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['utf-8', ';', Buffer.from(text.replace('City', '"City, town, village"'))],
  ])('%s %j', async (encoding, delimiter, content) => {
    const found = await uploaded(tenant, new Uint8Array(content))
    expect(found).toMatchObject({ encoding, delimiter, size_bytes: content.length })
    expect(found.columns[1]?.samples).toEqual(['Köln'])
  })

  test('a compressed body', async () => {
    const headers = { 'content-encoding': 'gzip' }
    const { status, body } = await tenant.upload(new Uint8Array(gzipSync(text)), { headers })
    expect([status, body.import.size_bytes]).toEqual([201, Buffer.byteLength(text)])
  })
})

test('a file is kept beside the databases, readable by the service alone', async () => {
  const { import_id } = await uploaded(tenant, 'email\nada@example.com\n')
  const path = fileOf(directory, import_id)
  expect(readFileSync(path, 'utf8')).toBe('email\nada@example.com\n')
  expect(statSync(path).mode & 0o077).toBe(0)
})

describe('is rejected, and nothing is kept:', () => {
  const gibberish = new Uint8Array(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))
  test.each([
    ['an empty file', '\n', 400, 'invalid_file', {}],
    ['a picture', gibberish, 400, 'invalid_file', {}],
    ['a header of 10 MB', `${'x'.repeat(10_000_000)}\n`, 400, 'invalid_file', {}],
    ['an open quotation mark in the header', 'email,"city\na@example.com,Rome\n', 400, 'invalid_file', {}],
    ['an Excel workbook', new Uint8Array(Buffer.from('504b030414000600', 'hex')), 400, 'invalid_file', {}],
    ['501 columns', `email${',x'.repeat(500)}\n`, 400, 'invalid_file', {}],
    ['JSON', '{"email":"ada@example.com"}', 415, 'unsupported_media_type', { 'content-type': 'application/json' }],
    ['a body that is not gzip', 'email\n', 400, 'invalid_content_encoding', { 'content-encoding': 'gzip' }],
    ['an unknown compression', 'email\n', 415, 'unsupported_content_encoding', { 'content-encoding': 'zip' }],
    ['a name of 256 characters', 'email\n', 400, 'validation_error', {}, 'x'.repeat(256)],
    ['an invalid Idempotency-Key', 'email\n', 400, 'validation_error', { 'idempotency-key': 'ü' }],
  ] as const)('%s', async (_, content, status, code, headers, name = 'contacts.csv') => {
    const before = files()
    const response = await tenant.upload(content, { name, headers }).catch((error: Error) => error)
    if (response instanceof Error) throw response
    expect([response.status, response.body.error.code]).toEqual([status, code])
    expect((await tenant.call('GET', '/v1/imports')).body.imports).toEqual([])
    expect(filesSince(before)).toEqual([])
  })

  test('a file that says it is larger than the limit, before it is sent', async () => {
    const response = await new Promise<string>((resolve, reject) => {
      const url = new URL(service.url)
      const socket = connect(Number(url.port), url.hostname, () => {
        socket.write(
          `POST /v1/imports HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${tenant.key}\r\ncontent-type: text/csv\r\ncontent-length: ${FILE_BYTES_MAX + 1}\r\n\r\nemail`,
        )
      })
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk
        if (text.includes('body_too_large')) {
          socket.destroy()
          resolve(text)
        }
      })
      socket.on('error', reject)
    })
    expect(response).toMatch(/^HTTP\/1.1 413 /)
  })

  test('an upload that breaks off', async () => {
    const before = files()
    const controller = new AbortController()
    const body = new ReadableStream({
      start: (stream) => {
        stream.enqueue(new TextEncoder().encode('email\nada@example.com\n'))
        setTimeout(() => controller.abort(), 500)
      },
    })
    const headers = { authorization: `Bearer ${tenant.key}`, 'content-type': 'text/csv' }
    const init = { method: 'POST', headers, body, duplex: 'half', signal: controller.signal }
    await expect(fetch(`${service.url}/v1/imports`, init as RequestInit)).rejects.toThrow()
    await expect.poll(() => filesSince(before)).toEqual([])
    expect((await tenant.call('GET', '/v1/imports')).body.imports).toEqual([])
  })
})

test('an upload repeated with its Idempotency-Key is stored once', async () => {
  const headers = { 'idempotency-key': 'once' }
  const first = await tenant.upload('email\nada@example.com\n', { headers })
  const kept = files()
  const second = await tenant.upload('email\nada@example.com\n', { headers })
  expect([second.status, second.body]).toEqual([201, first.body])
  expect(second.headers.get('idempotent-replayed')).toBe('true')
  const other = await tenant.upload('email\nbob@example.com\n', { headers })
  expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_key_reused'])
  expect(filesSince(kept)).toEqual([])
})

test('a tenant has at most ten open imports, even if two uploads end at the same time, and a limited size of files', async () => {
  for (let n = 0; n < 9; n++) await uploaded(tenant, 'email\n')
  const upload = () => tenant.upload('email\n')
  const responses = await simultaneously(service, 'imports', [upload, upload])
  expect(responses.map(({ status, body }) => [status, body.error?.code]).sort()).toEqual([
    [201, undefined],
    [409, 'too_many_imports'],
  ])
  const { imports } = (await tenant.call('GET', '/v1/imports?state=uploaded&limit=5&page=2')).body
  expect(imports).toHaveLength(5)
  for (const { import_id } of imports) await tenant.call('POST', `/v1/imports/${import_id}/cancel`)
  await uploaded(tenant, 'email\n')
  await tenant.handle.db.updateTable('imports').set({ size_bytes: FILE_BYTES_MAX }).execute()
  const full = await tenant.upload('email\n')
  expect([full.status, full.body.error.code]).toEqual([409, 'import_storage_full'])
})
