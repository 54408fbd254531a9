import { readFileSync } from 'node:fs'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { act, importOf, uploaded } from '../../test/imports.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import type { Import } from './import-object.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}.csv`, import.meta.url), 'utf8')

/** Where each column goes. */
function targetsOf({ columns, mapping }: Import): Record<string, string> {
  return Object.fromEntries(mapping.map((each) => [columns[each.column]?.header ?? '', each.property ?? each.target]))
}

async function propertiesOf(email: string): Promise<Record<string, unknown>> {
  return (await tenant.call('GET', `/v1/contacts?search=${email}`)).body.contacts[0]?.properties
}

/** Uploads a file, and imports it as proposed. */
async function imported(content: string | Uint8Array<ArrayBuffer>): Promise<Import> {
  return act(tenant, await uploaded(tenant, content), 'start', 'completed')
}

describe('a column whose name is ours wins over a synonym', () => {
  const OUTLOOK =
    '\ufeff"First Name","Middle Name","Last Name","Title","Company","Department","Job Title","Business Street","Business City","Business Country/Region","Business Phone","Mobile Phone","E-mail Address","E-mail Type","E-mail Display Name","E-mail 2 Address","Birthday"\r\n' +
    '"Olaf","","Sample","Dr.","Acme","","CEO","Street 1","Bern","Switzerland","0041 31 000 00 00","","olaf.o@acme.example","SMTP","Olaf Sample (olaf.o@acme.example)","","0/0/00"\r\n'

  test("Outlook's Job Title is the job title, and its Title a property of its own", async () => {
    const found = await uploaded(tenant, OUTLOOK)
    expect(found.recognized_as).toBe('outlook')
    expect(targetsOf(found)).toMatchObject({
      'Job Title': 'jobtitle',
      Title: 'Title',
      'E-mail Address': 'email',
      'E-mail Display Name': 'ignore',
      'Business City': 'city',
      'Business Country/Region': 'country',
    })
    expect(found.columns[3]?.note).toEqual({ code: 'same_target', target: 'jobtitle', column: 6 })
    await act(tenant, found, 'start', 'completed')
    const olaf = await propertiesOf('olaf.o@acme.example')
    expect(olaf).toMatchObject({ jobtitle: 'CEO', Title: 'Dr.', phone: '+41 31 000 00 00', city: 'Bern' })
    // Outlook's date of nothing.
    expect(olaf).not.toHaveProperty('Birthday')
  })

  test.each([
    ['Title,Job Title,Email\nCEO,Buyer,a@example.com\n', { Title: 'Title', 'Job Title': 'jobtitle' }],
    ['jobtitle,Position,Email\nCEO,Buyer,a@example.com\n', { jobtitle: 'jobtitle', Position: 'Position' }],
    ['Surname,last_name,Email\nA,B,a@example.com\n', { Surname: 'Surname', last_name: 'lastname' }],
    ['Work Email,Email\na@example.com,b@example.com\n', { 'Work Email': 'Work Email', Email: 'email' }],
    ['ID,External ID,Email\n1,2,a@example.com\n', { ID: 'ID', 'External ID': 'external_id' }],
    ['Title,Email\nCEO,a@example.com\n', { Title: 'jobtitle' }],
    ['Email,phone,Business Phone\na@example.com,1,2\n', { phone: 'phone', 'Business Phone': 'Business Phone' }],
    ['Email,Business Phone,Phone\na@example.com,1,2\n', { Phone: 'phone', 'Business Phone': 'Business Phone' }],
    ['Email,Domain,company_domain\na@example.com,a.example,b.example\n', { company_domain: 'company_domain' }],
    ['="Email",="zip"\na@example.com,1\n', { Email: 'email', zip: 'zip' }],
    ['Title,Email\nDr.,a@example.com\nMrs,b@example.com\n', { Title: 'Title' }],
  ])('%j', async (text, expected) => {
    expect(targetsOf(await uploaded(tenant, text))).toMatchObject(expected)
  })

  test('the import says which of two columns is used, and a person can choose the other', async () => {
    const found = await uploaded(tenant, 'Title,Job Title,Email\nCEO,Buyer,a@example.com\n')
    expect(found.columns.map(({ note }) => note)).toEqual([
      { code: 'same_target', target: 'jobtitle', column: 1 },
      null,
      null,
    ])
    const columns = [
      { column: 0, target: 'property', property: 'jobtitle' },
      { column: 2, target: 'email' },
    ]
    await tenant.call('PUT', `/v1/imports/${found.import_id}/mapping`, { columns })
    await act(tenant, found, 'start', 'completed')
    expect(await propertiesOf('a@example.com')).toEqual({ email: 'a@example.com', jobtitle: 'CEO' })
  })

  test('a whole export of Outlook is imported', async () => {
    expect(await imported(fixture('outlook'))).toMatchObject({ counts: { created: 2, failed: 0 } })
    expect(await propertiesOf('jonas@nordal.example')).toMatchObject({
      jobtitle: 'Buyer',
      'Mobile Phone': '+47 900 00 000',
      'E-mail 2 Address': 'jonas@home.example',
      Notes: 'Wants the "large" one\nnext year',
    })
  })
})

describe('the delimiter', () => {
  const bytes = (text: string, encoding: 'utf8' | 'utf16le') => new Uint8Array(Buffer.from(text, encoding))
  test.each([
    [';', 'sep=;\r\nemail;name\r\nsep.a@acme.example;Sep\r\n', 'utf8', 2],
    ['^', '\ufeffsep=^\nemail^name\nsep.a@acme.example^Sep\n', 'utf8', 2],
    ['\t', 'sep=\t\r\nemail\tname\r\nsep.a@acme.example\tSep\r\n', 'utf8', 2],
    ['|', '"sep=|"\nemail|name\nsep.a@acme.example|Sep\n', 'utf8', 2],
    [';', '\ufeffsep=;\r\nemail;name\r\nsep.a@acme.example;Sep\r\n', 'utf16le', 2],
    [';', 'sep=;;\n\nemail;name\nsep.a@acme.example;Sep\n', 'utf8', 3],
    ['|', 'email|name\nsep.a@acme.example|Sep\n', 'utf8', 1],
    [';', 'email;name;rate\nsep.a@acme.example;Sep;1,5\n', 'utf8', 1],
    // A program has converted the rows, and left Excel's line.
    [',', 'sep=;\nemail,name\nsep.a@acme.example,Sep\n', 'utf8', 2],
    ['\t', 'email\tname\nsep.a@acme.example\tSep\n', 'utf8', 1],
  ] as const)('%j is found in %j', async (delimiter, text, encoding, line) => {
    const found = await uploaded(tenant, bytes(text, encoding))
    expect(found).toMatchObject({ delimiter, header_line: line })
    expect(await act(tenant, found, 'start', 'completed')).toMatchObject({ counts: { created: 1, failed: 0 } })
    expect(await propertiesOf('sep.a@acme.example')).toMatchObject({ firstname: 'Sep' })
  })

  test('a file of addresses alone has one column', async () => {
    expect(await imported('email\na@example.com\nb@example.com\n')).toMatchObject({ counts: { created: 2 } })
  })

  test('with semicolons, a comma is the decimal point', async () => {
    const found = await uploaded(tenant, 'email;rate;sum\na@example.com;1,5;1,250\nb@example.com;-20,25;3\n')
    expect(found.mapping.map(({ type }) => type)).toEqual([undefined, 'number', 'number'])
    await act(tenant, found, 'start', 'completed')
    expect(await propertiesOf('b@example.com')).toMatchObject({ rate: -20.25, sum: 3 })
  })
})

describe('rows above the header', () => {
  test.each([
    ['a title', 'All contacts\nemail,city\na@example.com,Rome\n', 2],
    [
      'a padded title and a date',
      'All contacts,,\nGenerated on,2026-02-01,\n\nEmail,City,Plan\na@example.com,Rome,x\n',
      4,
    ],
    ['a title with commas', '"Contacts, all of them"\nOwner: Ann, Bob\n\nEmail,City,Plan\na@example.com,Rome,x\n', 4],
    ['a title as wide as the rows', 'Report,Contacts\nEmail,City\na@example.com,Rome\n', 2],
    ['a title in two cells of five', 'Report,Q1,,,\nEmail,City,Plan,Seats,Owner\na@example.com,Rome,x,1,Ann\n', 2],
    ['an open quotation mark', '"Contacts of 12" racks\nEmail,City\na@example.com,Rome\n', 2],
    ['an address in a title', 'Exported by,admin@corp.example,\n,,\nEmail,Name,City\na@example.com,Q,Rome\n', 3],
    ['an owner with an address', 'Owner:,o@corp.example,All\nEmail,Name,City\na@example.com,Q,Rome\n', 2],
    ['an address between tabs', 'Sent from\tnews@corp.example\nEmail\tCity\na@example.com\tRome\n', 2],
  ])('%s', async (_, text, line) => {
    const found = await uploaded(tenant, text)
    expect(found.header_line).toBe(line)
    expect(found.first_lines.map((each) => each.line)).toContain(line)
    expect(await act(tenant, found, 'start', 'completed')).toMatchObject({ row_count: 1, counts: { created: 1 } })
    expect(await propertiesOf('a@example.com')).toMatchObject({ city: 'Rome' })
  })

  test('a person can choose another line, and sees the columns again', async () => {
    const found = await uploaded(tenant, 'Kontakt,Ort\nEmail,City\na@example.com,Rome\n')
    const read = (body: object) => tenant.call('PUT', `/v1/imports/${found.import_id}/format`, body)
    expect(found.header_line).toBe(2)
    const first = await read({ header_line: 1 })
    expect(first.body.import).toMatchObject({
      state: 'uploaded',
      header_line: 1,
      columns: [{ header: 'Kontakt', samples: ['Email', 'a@example.com'] }, { header: 'Ort' }],
    })
    const beyond = await read({ header_line: 9 })
    expect([beyond.status, beyond.body.error.code]).toEqual([400, 'invalid_file'])
    const other = await createTestTenant(service)
    expect((await other.call('PUT', `/v1/imports/${found.import_id}/format`, {})).status).toBe(404)
    // What is left out is detected again.
    expect((await read({})).body.import.header_line).toBe(2)
    await tenant.call('POST', `/v1/imports/${found.import_id}/start`)
    await expect.poll(async () => (await importOf(tenant, found.import_id)).state).toBe('completed')
    const late = await read({ header_line: 1 })
    expect([late.status, late.body.error.code]).toEqual([409, 'invalid_import_state'])
  })

  test('without a header, the first person is not taken for one', async () => {
    const found = await uploaded(tenant, 'a@example.com,Ada,1\nb@example.com,Bob,2\n')
    expect(found).toMatchObject({ header_line: 0, columns: [{ header: 'Column 1' }, {}, {}] })
    expect(await act(tenant, found, 'start', 'completed')).toMatchObject({ counts: { created: 2 } })
    expect(await propertiesOf('a@example.com')).toMatchObject({ 'Column 2': 'Ada' })
  })
})

describe('the column with the address', () => {
  test("Google's: the first of a list, whatever marks it", async () => {
    expect(await imported(fixture('google'))).toMatchObject({
      recognized_as: 'google',
      counts: { created: 2, failed: 0 },
    })
    expect(await propertiesOf('ilse@kranich.example')).toMatchObject({
      firstname: 'Ilse',
      company: 'Kranich GmbH',
      jobtitle: 'CFO',
      city: 'Hamburg',
      'E-mail 2 - Value': 'ilse@home.example',
    })
    expect(await propertiesOf('tomas@lumen.example')).toMatchObject({ city: 'Madrid', country: 'ES' })
  })

  test("Google's, in the file of the issue", async () => {
    const text = `First Name,Middle Name,Last Name,Phonetic First Name,Nickname,File As,Organization Name,Organization Title,Birthday,Notes,Photo,Labels,E-mail 1 - Label,E-mail 1 - Value,E-mail 2 - Label,E-mail 2 - Value,Phone 1 - Label,Phone 1 - Value,Address 1 - City,Address 1 - Country,Website 1 - Value
Pia,,Sample,,,,Acme,CTO,1990-02-01,"line 1
line 2",,* myContacts ::: Team,* Work,pia.g@acme.example ::: pia2.g@acme.example,Home,pia.h@home.example,Mobile,+49 170 0000001 ::: +49 30 000,Berlin,DE,https://acme.example
`
    expect(await imported(text)).toMatchObject({ counts: { created: 1, failed: 0 } })
    expect(await propertiesOf('pia.g@acme.example')).toMatchObject({ jobtitle: 'CTO', Notes: 'line 1\nline 2' })
  })

  test("Pipedrive's", async () => {
    expect(await imported(fixture('pipedrive'))).toMatchObject({ recognized_as: 'pipedrive', counts: { created: 2 } })
    expect(await propertiesOf('nadia@cedar.example')).toMatchObject({
      firstname: 'Nadia',
      company: 'Cedar Works',
      phone: '020 7946 0100',
      'Person - Email - Home': 'nadia@home.example',
    })
  })

  test.each([
    'E-Mail-Adresse',
    'E-Mail: Adresse',
    'Adresse de messagerie',
    'Dirección de correo electrónico',
    'Indirizzo di posta elettronica',
    'E-mailadres',
    'Endereço de Email',
    'Adres e-mail',
    '電子メール アドレス',
    'メールアドレス',
    'E-postadress',
    'Адрес эл. почты',
    '电子邮件地址',
    'Main e-mail\u00a0address',
    'Correo-e del contacto',
    'Reach me at',
  ])('by its name, or by its values: %s', async (header) => {
    const found = await uploaded(tenant, `Anrede;${header};Typ;Ort\nFrau;mia@x.example;SMTP;Bern\nHerr;;SMTP;Ulm\n`)
    expect(found.mapping.map(({ target }) => target)).toEqual(['property', 'email', 'property', 'property'])
  })

  test('values count more than names, but not the addresses of colleagues', async () => {
    const found = await uploaded(
      tenant,
      'Email,Contact owner,Reach me at\nyes,ann@us.example,ada@x.example\nno,ann@us.example,bob@x.example\n',
    )
    expect(targetsOf(found)).toMatchObject({ Email: 'Email', 'Contact owner': 'Contact owner', 'Reach me at': 'email' })
    expect(found.columns[2]?.note).toEqual({ code: 'found_by_values' })
    const owners = await uploaded(tenant, 'ID,Contact owner\n1,ann@us.example\n2,ann@us.example\n3,joe@us.example\n')
    expect(targetsOf(owners)).toEqual({ ID: 'external_id', 'Contact owner': 'Contact owner' })
  })

  test('an empty column of the best name leaves it to one with addresses', async () => {
    const found = await uploaded(tenant, 'Email,Work Email,Home Email\n,a@example.com,b@example.com\n')
    expect(targetsOf(found)).toMatchObject({ 'Work Email': 'email', 'Home Email': 'Home Email' })
  })

  test('an address may be written in several ways', async () => {
    const cells = [
      'mailto:ada0@x.example',
      'MAILTO:ada1@x.example?subject=Hi',
      'Ada Lovelace <ada2@x.example>',
      '"Lovelace, Ada" <ada3@x.example>',
      'ada4@x.example; bob@x.example',
      'ada5@x.example\nbob@x.example',
      '* ada6@x.example ::: bob@x.example',
      '\u00a0ada7@x.example\u00a0',
      '\ufeffada8@x.example',
    ]
    const lines = cells.map((cell) => `"${cell.replaceAll('"', '""')}"`)
    expect(await imported(`email\n${lines.join('\n')}\n`)).toMatchObject({ counts: { created: cells.length } })
    for (const index of cells.keys()) {
      expect(await propertiesOf(`ada${index}@x.example`)).toEqual({ email: `ada${index}@x.example` })
    }
  })
})

describe('a row whose address is in another column', () => {
  test.each([
    [
      'Person - Name,Person - Email - Work,Person - Email - Home\nAda,,a@example.com\nBob,b@example.com,b@home.example\n',
      'Person - Email - Home',
    ],
    ['First Name,E-mail 1 - Value,E-mail 2 - Value\nAda,,a@example.com\nBob,b@example.com,\n', 'E-mail 2 - Value'],
    ['Vorname,E-Mail-Adresse,E-Mail 2: Adresse\nAda,,a@example.com\nBob,b@example.com,\n', 'E-Mail 2: Adresse'],
    [
      'First Name,E-mail Address,E-mail Type,E-mail 2 Address\nAda,/o=Acme/cn=Ada,EX,a@example.com\nBob,b@example.com,SMTP,\n',
      'E-mail 2 Address',
    ],
  ])('%j', async (text, column) => {
    const done = await imported(text)
    expect(done).toMatchObject({ counts: { created: 2, failed: 0 } })
    const warning = { code: 'other_address', message: expect.stringContaining(column), rows: 1, first_rows: [1] }
    expect(done.warnings).toContainEqual(warning)
    expect(Object.values(await propertiesOf('a@example.com'))).toContain('Ada')
    expect(Object.values(await propertiesOf('b@example.com'))).toContain('Bob')
  })

  test("is never found by a colleague's, and fails without any", async () => {
    const text = 'Email,Owner Email,Email 2\n,o@corp.example,\n,o@corp.example,none\nb@example.com,o@corp.example,\n'
    expect(await imported(text)).toMatchObject({ counts: { created: 1, failed: 2 } })
  })
})

describe('values that spreadsheets mark as text', () => {
  const MARKED = [
    ['="0170"', '0170'],
    ["'04109", '04109'],
    ["'0049 170/12-3", '0049 170/12-3'],
    ['="a ""b"""', 'a "b"'],
    ["'t Hooft", "'t Hooft"],
    ["'s-Hertogenbosch", "'s-Hertogenbosch"],
    ["'=1+1", '=1+1'],
    ["O'Neil", "O'Neil"],
    ['00170', '00170'],
    ['123456789012345678', '123456789012345678'],
  ] as const

  test('are those texts', async () => {
    // A column each, because its type is guessed from its values.
    const header = MARKED.map((_, index) => `code${index}`)
    const cells = MARKED.map(([cell]) => `"${cell.replaceAll('"', '""')}"`)
    await imported(`email,${header.join()}\na@example.com,${cells.join()}\n`)
    const values = Object.fromEntries(MARKED.map(([, value], index) => [`code${index}`, value]))
    expect(await propertiesOf('a@example.com')).toMatchObject(values)
  })

  test('as they are in a file, without quotation marks around them', async () => {
    await imported('email,phone,zip\na@example.com,="0170",\'04109\n')
    expect(await propertiesOf('a@example.com')).toMatchObject({ phone: '0170', zip: '04109' })
  })

  test('a number that would lose digits stays a text, with a warning', async () => {
    const text =
      'email,plot\n' +
      Array.from({ length: 600 }, (_, n) => `p${n}@example.com,${n + 1}\n`).join('') +
      'zip@example.com,04109\nlong@example.com,900719925474099312\nword@example.com,many\n'
    const found = await uploaded(tenant, text)
    expect(found.mapping[1]).toMatchObject({ type: 'number' })
    const done = await act(tenant, found, 'start', 'completed')
    expect(done).toMatchObject({
      counts: { created: 602, failed: 1 },
      warnings: [{ code: 'kept_as_text', rows: 2, first_rows: [601, 602] }],
    })
    expect((await propertiesOf('zip@example.com')).plot).toBe('04109')
    expect((await propertiesOf('long@example.com')).plot).toBe('900719925474099312')
    expect((await propertiesOf('p9@example.com')).plot).toBe(10)
  })
})

describe('a row that cannot be read fails alone', () => {
  test('with quotation marks in the middle of cells', async () => {
    const text =
      'email,notes,size\n' +
      'a@example.com,John "JJ" Doe,5" pipe\n' +
      'b@example.com,"JJ" Doe,7\n' +
      'c@example.com,"a "quoted" word",7\n' +
      'd@example.com,"two\nlines, ""one"" cell",7\n'
    expect(await imported(text)).toMatchObject({ counts: { created: 4, failed: 0 } })
    expect(await propertiesOf('a@example.com')).toMatchObject({ notes: 'John "JJ" Doe', size: '5" pipe' })
    expect(await propertiesOf('b@example.com')).toMatchObject({ notes: '"JJ" Doe' })
    expect(await propertiesOf('c@example.com')).toMatchObject({ notes: 'a "quoted" word' })
    expect(await propertiesOf('d@example.com')).toMatchObject({ notes: 'two\nlines, "one" cell' })
  })

  test('with a quotation mark that is not closed: the rest of the file is imported, and the error names the line', async () => {
    const text =
      'email,name,city\n' +
      'a@example.com,"never closed,Rome\n' +
      'b@example.com,"Bob",Oslo\n' +
      'c@example.com,Carl,"Bern\n' +
      'd@example.com,Dora,Ulm\n'
    const done = await imported(text)
    expect(done).toMatchObject({ row_count: 4, counts: { created: 2, failed: 2 }, errors: [{ row: 1 }, { row: 3 }] })
    expect(done.errors[0]?.message).toContain('Line 2 has a quotation mark that is not closed')
    expect(done.errors[1]?.message).toContain('Line 4 has')
    const { body } = await tenant.call('GET', done.failed_rows_url ?? '')
    expect(body).toContain('"a@example.com,""never closed,Rome"')
  })

  test('with a NUL, half a character, a long value or a long line', async () => {
    const long = 'x'.repeat(70_000)
    const text = Buffer.concat([
      Buffer.from('email,city\nö@example.com,Köln\nb@example.com,Züri\nc@example.com,Ro'),
      Buffer.from([0]),
      Buffer.from('me\nd@example.com,Z'),
      Buffer.from([0xfc]),
      Buffer.from(`rich\ne@example.com,${long}\nf@example.com,${'y'.repeat(1_100_000)}\ng@example.com,�\n`),
    ])
    const done = await imported(new Uint8Array(text))
    expect(done).toMatchObject({ encoding: 'utf-8', counts: { created: 3, failed: 4 } })
    expect(done.errors.map(({ row, message }) => [row, /NUL|bytes|character|MiB/.test(message)])).toEqual([
      [3, true],
      [4, true],
      [5, true],
      [6, true],
    ])
    expect(done.errors[3]?.message).toContain('Line 7')
    expect(await propertiesOf('g@example.com')).toMatchObject({ city: '�' })
  })

  test('blank rows, line ends of an old Mac, blank cells at the end and a header without its last name are no errors', async () => {
    expect(await imported('email,city\ra@example.com,Rome\r,\r\rb@example.com,Bonn,,\r\0\0\r')).toMatchObject({
      counts: { created: 2, failed: 0 },
    })
    expect(await imported('email,city,\nc@example.com,Rome\nd@example.com,Bonn,\n')).toMatchObject({
      counts: { created: 2, failed: 0 },
    })
  })

  test('names that repeat, are missing, or have line breaks and invisible characters', async () => {
    const found = await uploaded(
      tenant,
      '\ufeffE\u200bmail,First\u00a0Name,City,city,,"Size\nin ""m"""\na@example.com,Ada,Rome,Bonn,x,7\n',
    )
    expect(found.mapping.map(({ target, property }) => property ?? target)).toEqual([
      'email',
      'firstname',
      'city',
      'city 2',
      'ignore',
      'Size\nin "m"',
    ])
    expect(found.columns[4]?.note).toEqual({ code: 'no_name' })
  })

  test('a name that is longer than that of any property is cut, whatever it repeats', async () => {
    for (const word of ['is', 'contact', 'ada@x.', ' ', '>']) {
      const done = await imported(`email,${word.repeat(200_000 / word.length)}x\na@example.com,Rome\n`)
      const [, { property = '' } = {}] = done.mapping
      expect([done.counts.failed, property.length <= 128]).toEqual([0, true])
    }
  })
})

describe('ids that name nobody', () => {
  test('are left out with a warning, and join no strangers', async () => {
    const text =
      'external_id,email,city\nundefined,a@example.com,Rome\nNULL,b@example.com,Oslo\n(not set),,Bern\n 7 ,c@example.com,Ulm\nundefined,d@example.com,Bonn\n'
    const found = await uploaded(tenant, text)
    const previewed = await act(tenant, found, 'preview', 'previewed')
    expect(previewed.preview).toMatchObject({ created: 4, failed: 1 })
    const done = await act(tenant, found, 'start', 'completed')
    expect(done).toMatchObject({
      counts: { created: 4, failed: 1 },
      errors: [{ row: 3, message: expect.stringContaining('names nobody') }],
      warnings: [
        { code: 'ignored_id', rows: 2, first_rows: [1, 5] },
        { code: 'ignored_id', rows: 1, first_rows: [2] },
      ],
    })
    expect((await tenant.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(4)
  })

  test('a tenant can add words', async () => {
    await tenant.call('PATCH', '/v1/tenant', { ignored_ids: ['keine'] })
    const done = await imported('external_id,email\nKeine,a@example.com\nkeine,b@example.com\n')
    expect(done).toMatchObject({ counts: { created: 2 }, warnings: [{ code: 'ignored_id', rows: 1 }, { rows: 1 }] })
  })
})
