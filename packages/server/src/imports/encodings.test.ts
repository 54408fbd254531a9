import iconv from 'iconv-lite'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { act, uploaded } from '../../test/imports.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { detectEncoding } from './detect-encoding.ts'
import type { Import } from './import-object.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

/** A file as old programs write it. */
function encodedIn(encoding: string, text: string): Buffer {
  // No library at hand writes it: each character of these names is two bytes between the switches.
  if (encoding === 'iso-2022-jp') {
    return Buffer.concat(
      [...text.matchAll(/\p{ASCII}+|\P{ASCII}+/gu)].flatMap(([part]) => {
        if (part < '\u0080') return [Buffer.from(part)]
        const bytes = iconv.encode(part, 'euc-jp').map((byte) => byte & 0x7f)
        return [Buffer.from('\x1b$B'), Buffer.from(bytes), Buffer.from('\x1b(B')]
      }),
    )
  }
  return iconv.encode(text, encoding === 'x-mac-ce' ? 'maccenteuro' : encoding)
}

async function propertiesOf(email: string): Promise<Record<string, unknown>> {
  return (await tenant.contactOf(email))?.properties
}

/** Uploads a file, and imports it as proposed. */
async function imported(content: Uint8Array<ArrayBuffer>): Promise<Import> {
  return act(tenant, await uploaded(tenant, content), 'start', 'completed')
}

describe('the encoding', () => {
  test('is the same wherever a chunk ends', async () => {
    const file = Buffer.from('Name\nM\x9fller\n', 'latin1')
    const detected = (...chunks: Buffer[]) => {
      const { see, end } = detectEncoding()
      for (const chunk of chunks) see(chunk)
      return end()
    }
    const whole = await detected(file)
    expect(whole).toMatchObject({ encoding: 'macintosh', readings: expect.arrayContaining([expect.anything()]) })
    for (let at = 1; at < file.length; at++)
      expect([at, await detected(file.subarray(0, at), file.subarray(at))]).toEqual([at, whole])
  })

  test.each([
    ['macintosh', [0x9f], 'ü'],
    ['windows-1252', [0xfc], 'ü'],
    ['utf-8', [0xc3, 0xbc], 'ü'],
  ] as const)('%s of a file with one such character is detected', async (encoding, character, text) => {
    const bytes = Buffer.concat([
      Buffer.from('email,company\nm.a@acme.example,M'),
      Buffer.from(character),
      Buffer.from('nchen\n'),
    ])
    const done = await imported(new Uint8Array(bytes))
    expect(done.encoding).toBe(encoding)
    expect(await propertiesOf('m.a@acme.example')).toMatchObject({ company: `M${text}nchen` })
  })

  test.each([
    ['shift_jis', '8e9796bc2c656d61696c0a8e5293632c74617240782e6578616d706c650a', '山田'],
    ['gb18030', 'd0d5c3fb2cb9abcbbe2c656d61696c0ad0a1c3f72cc9cfbaa3b9abcbbe2c74617240782e6578616d706c650a', '小明'],
    ['windows-1251', 'e8ecff2c656d61696c0accf8e0edede02c74617240782e6578616d706c650a', 'Мшанна'],
    [
      'utf-16le',
      '65006d00610069006c002c006e000a00740061007200400078002e006500780061006d0070006c0065002c00fc000a00',
      'ü',
    ],
  ])('%s is detected', async (encoding, hex, name) => {
    const done = await imported(new Uint8Array(Buffer.from(hex, 'hex')))
    expect([done.encoding, done.counts.created]).toEqual([encoding, 1])
    expect(Object.values(await propertiesOf('tar@x.example'))).toContain(name)
  })

  // Many files have nothing beyond ASCII but an apostrophe or a sign.
  test.each([
    'O’Brien',
    'ABC’s',
    '£500',
    '100 €',
    '§ 5',
    'A – B',
    '“Acme” Ltd',
    'Acme™',
    'Acme®',
    '5½',
    '«Acme»',
    'Nº 5',
  ])('one sign is read as Windows wrote it: %s', async (name) => {
    for (const names of [[name], [name, 'Smith', name, 'Jones']]) {
      const { columns } = await uploadedNames('windows-1252', names)
      expect(columns[1]?.samples).toEqual([...new Set(names)])
    }
  })

  test.each([
    ['macintosh', ['O’Brien', 'D’Angelo']],
    ['macintosh', ['François', 'Björn', 'Muñoz']],
    ['iso-8859-15', ['ab 100 €', 'ab 5 €']],
    ['ibm850', ['Müller', 'Größe', 'Hélène']],
    ['ibm437', ['Jürgen', 'André', 'Peña']],
    ['ibm852', ['Dvořák', 'Šimić', 'Kraków']],
    ['x-mac-ce', ['Dvořák', 'Novák', 'Růžička']],
    ['windows-1250', ['Kovačić', 'Marković', 'Đorđević', 'Šimić']],
    ['windows-1250', ['Łukasz', 'Wałęsa', 'Kraków']],
    ['iso-8859-2', ['Dvořák', 'Žižka', 'Štěpán']],
    ['windows-1254', ['Şahin', 'Yılmaz', 'Öztürk', 'Çağlar', 'İstanbul', 'Güneş']],
    ['windows-1251', ['Иванов', 'Мария', 'Санкт-Петербург']],
    ['iso-2022-jp', ['山田', '鈴木']],
  ] as const)('%s of a few names is detected: %j', async (encoding, names) => {
    expect(await readAs(encoding, names)).toEqual(names)
  })

  function uploadedNames(encoding: string, names: readonly string[]): Promise<Import> {
    const lines = ['email,name', ...names.map((name, index) => `p${index}@acme.example,${name}`)]
    return uploaded(tenant, new Uint8Array(encodedIn(encoding, `${lines.join('\n')}\n`)))
  }

  /** The names in a file, as the service imports them. */
  async function readAs(encoding: string, names: readonly string[]): Promise<string[]> {
    const found = await uploadedNames(encoding, names)
    await act(tenant, found, 'start', 'completed')
    const contacts = names.map((_, index) => propertiesOf(`p${index}@acme.example`))
    return (await Promise.all(contacts)).map((properties) => String(properties.name ?? properties.firstname))
  }

  test('a person sees how words read in others, and chooses one', async () => {
    const bytes = Buffer.from('email,company\nm.a@acme.example,M\x9fnchen\n', 'latin1')
    const found = await uploaded(tenant, new Uint8Array(bytes))
    expect(found.encodings[0]).toEqual({ encoding: 'macintosh', words: 'München' })
    expect(found.encodings).toContainEqual({ encoding: 'windows-1252', words: 'MŸnchen' })
    const path = `/v1/imports/${found.import_id}/format`
    const { status, body } = await tenant.call('PUT', path, { encoding: 'windows-1252' })
    expect([status, body.import.encoding, body.import.columns[1].samples]).toEqual([200, 'windows-1252', ['MŸnchen']])
    const unknown = await tenant.call('PUT', path, { encoding: 'ebcdic' })
    expect([unknown.status, unknown.body.error.code]).toEqual([400, 'validation_error'])
    await act(tenant, found, 'start', 'completed')
    expect(await propertiesOf('m.a@acme.example')).toMatchObject({ company: 'MŸnchen' })
  })

  test('a person chooses what is between the cells', async () => {
    const found = await uploaded(tenant, 'email;city,or town\na@example.com;Rome,Ostia\n')
    const path = `/v1/imports/${found.import_id}/format`
    const headersOf = ({ body }: { body: { import: { columns: { header: string }[] } } }) =>
      body.import.columns.map(({ header }) => header)
    expect(headersOf(await tenant.call('PUT', path, { delimiter: ',' }))).toEqual(['email;city', 'or town'])
    expect(headersOf(await tenant.call('PUT', path, { delimiter: ';' }))).toEqual(['email', 'city,or town'])
    const long = await tenant.call('PUT', path, { delimiter: ';;' })
    expect([long.status, long.body.error.code]).toEqual([400, 'validation_error'])
  })

  test('bytes that are no character in the chosen one fail their rows', async () => {
    const windows = await uploaded(
      tenant,
      new Uint8Array(Buffer.from('email,city\na@example.com,K\xf6ln\nb@example.com,Bonn\n', 'latin1')),
    )
    await tenant.call('PUT', `/v1/imports/${windows.import_id}/format`, { encoding: 'utf-8' })
    expect(await act(tenant, windows, 'start', 'completed')).toMatchObject({
      counts: { created: 1, failed: 1 },
      errors: [{ row: 1, message: expect.stringContaining('encoding') }],
    })
  })
})
