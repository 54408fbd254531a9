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

async function propertiesOf(email: string): Promise<Record<string, unknown>> {
  return (await tenant.call('GET', `/v1/contacts?search=${email}`)).body.contacts[0]?.properties
}

/** A column of a file: how it is read, whether that is a guess, and an example. */
function columnOf({ columns, mapping }: Import, header: string) {
  const column = columns.findIndex((each) => each.header === header)
  const { type, format } = mapping[column] ?? {}
  const { is_ambiguous, example } = columns[column] ?? {}
  return { type, format, is_ambiguous, example }
}

const rowsOf = (header: string, cells: readonly string[]) =>
  `email;${header}\n${cells.map((cell, index) => `p${index}@x.example;${cell}\n`).join('')}`

describe('dates', () => {
  test('a day above 12 anywhere in the column decides which number is the day', async () => {
    const american = await uploaded(tenant, rowsOf('Signed', ['03/04/2026', '12/31/2026']))
    expect(columnOf(american, 'Signed')).toEqual({
      type: 'date',
      format: 'month_first',
      is_ambiguous: false,
      example: { before: '03/04/2026', after: [{ property: 'Signed', value: '2026-03-04' }] },
    })
    const british = await uploaded(tenant, rowsOf('Signed', ['03/04/2026', '31/12/2026']))
    expect(columnOf(british, 'Signed')).toMatchObject({ type: 'date', format: 'day_first', is_ambiguous: false })
    await act(tenant, british, 'start', 'completed')
    expect(await propertiesOf('p0@x.example')).toMatchObject({ Signed: '2026-04-03' })
    expect(await propertiesOf('p1@x.example')).toMatchObject({ Signed: '2026-12-31' })
  })

  test('also thousands of rows below, or in another column', async () => {
    const cells = Array.from({ length: 3_000 }, () => '03/04/2026')
    const far = await uploaded(tenant, rowsOf('Signed', [...cells, '12/31/2026']))
    expect(columnOf(far, 'Signed')).toMatchObject({ format: 'month_first', is_ambiguous: false })
    const beside = await uploaded(tenant, 'email;Signed;Paid\na@x.example;03/04/2026;12/31/2026\n')
    expect(columnOf(beside, 'Signed')).toMatchObject({ format: 'month_first', is_ambiguous: true })
  })

  test('what fits both ways is guessed and said to be a guess, and a person can change it', async () => {
    const found = await uploaded(tenant, rowsOf('Signed', ['03/04/2026', '05/06/2026']))
    expect(columnOf(found, 'Signed')).toMatchObject({ type: 'date', format: 'day_first', is_ambiguous: true })
    const columns = found.mapping.map((each) => (each.column === 1 ? { ...each, format: 'month_first' } : each))
    const { body } = await tenant.call('PUT', `/v1/imports/${found.import_id}/mapping`, { columns })
    expect(columnOf(body.import, 'Signed').example).toEqual({
      before: '03/04/2026',
      after: [{ property: 'Signed', value: '2026-03-04' }],
    })
    const wrong = found.mapping.map((each) => (each.column === 1 ? { ...each, format: 'commas' } : each))
    const refused = await tenant.call('PUT', `/v1/imports/${found.import_id}/mapping`, { columns: wrong })
    expect(refused.body.error.details).toEqual([
      { path: 'columns[1].format', message: 'the type date has the formats day_first and month_first' },
    ])
  })

  test('dates whose order is clear need no format', async () => {
    const found = await uploaded(tenant, rowsOf('Signed', ['2026-01-05 09:12', '5 May 2026']))
    expect(columnOf(found, 'Signed')).toMatchObject({ type: 'date', format: undefined, is_ambiguous: false })
  })

  test('a property of dates can be used as dates', async () => {
    const found = await uploaded(tenant, rowsOf('Renewal', ['31. Dez. 2026', '5. März 2026 14:30']))
    await act(tenant, found, 'start', 'completed')
    const { properties } = (await tenant.call('GET', '/v1/properties?entity=contacts')).body
    expect(properties).toContainEqual(expect.objectContaining({ name: 'Renewal', type: 'date' }))
    const filter = JSON.stringify({
      match: 'all',
      conditions: [{ property: 'Renewal', operator: 'before', value: '2026-06-01' }],
    })
    const { contacts } = (await tenant.call('GET', `/v1/contacts?filter=${encodeURIComponent(filter)}`)).body
    expect(contacts.map((each: { properties: object }) => each.properties)).toEqual([
      { email: 'p1@x.example', Renewal: '2026-03-05T14:30:00Z' },
    ])
  })

  test.each([
    ['words among dates', ['31.12.2026', 'unknown']],
    ['birthdays without a year', ['31.12.', '05-09']],
    ['both orders', ['31/12/2026', '12/31/2026']],
    ['years', ['v2026', '2027']],
  ])('%s stay texts', async (_, cells) => {
    expect(columnOf(await uploaded(tenant, rowsOf('Signed', cells)), 'Signed')).toMatchObject({ type: 'text' })
  })

  test("a database's date of nothing is blank", async () => {
    const found = await uploaded(tenant, rowsOf('Signed', ['2026-12-31 00:00:00', '0000-00-00 00:00:00', '00.00.0000']))
    expect(await act(tenant, found, 'start', 'completed')).toMatchObject({ counts: { created: 3, failed: 0 } })
    expect(await propertiesOf('p0@x.example')).toEqual({ email: 'p0@x.example', Signed: '2026-12-31' })
    expect(await propertiesOf('p1@x.example')).toEqual({ email: 'p1@x.example' })
  })
})

describe('numbers and money', () => {
  test.each([
    [['1.234,50 €', '99 €'], 'decimal_comma', [1234.5, 99]],
    [['$1,234.50', '$99'], 'decimal_point', [1234.5, 99]],
    [['1 234,50', '7'], 'decimal_comma', [1234.5, 7]],
    [["CHF 1'234.50", '(7.25)'], 'decimal_point', [1234.5, -7.25]],
    [['1.250 €', '80 €'], 'decimal_comma', [1250, 80]],
    [['12 %', '7.5%'], 'decimal_point', [12, 7.5]],
  ])('%j', async (cells, format, numbers) => {
    const found = await uploaded(tenant, rowsOf('Paid', cells))
    expect(columnOf(found, 'Paid')).toMatchObject({ type: 'number', format, is_ambiguous: false })
    expect(await act(tenant, found, 'start', 'completed')).toMatchObject({ counts: { failed: 0 } })
    expect([(await propertiesOf('p0@x.example')).Paid, (await propertiesOf('p1@x.example')).Paid]).toEqual(numbers)
  })

  test('1,250 is read as in the rest of the file, and said to be a guess', async () => {
    const found = await uploaded(tenant, 'email;Rate;Seats\na@x.example;1.5;1,250\n')
    expect(columnOf(found, 'Seats')).toMatchObject({
      type: 'number',
      format: 'decimal_point',
      is_ambiguous: true,
      example: { before: '1,250', after: [{ property: 'Seats', value: '1250' }] },
    })
  })

  test('employees are whole numbers', async () => {
    const found = await uploaded(tenant, rowsOf('Employees', ['120', '1,200']))
    expect(columnOf(found, 'Employees')).toMatchObject({ format: 'decimal_point', is_ambiguous: false })
  })

  test('two notations in one column stay text', async () => {
    expect(columnOf(await uploaded(tenant, rowsOf('Paid', ['1.234,50', '1,234.50'])), 'Paid')).toMatchObject({
      type: 'text',
    })
  })
})

describe('other columns', () => {
  test('lists are divided, and yes and no are understood in several languages', async () => {
    const found = await uploaded(
      tenant,
      'email;Tags;Groups;VIP;Street\na@x.example;vip, demo;* Team ::: Board;ja;"5 Main St, Rome"\n',
    )
    expect(['Tags', 'Groups', 'VIP', 'Street'].map((header) => columnOf(found, header).type)).toEqual([
      'list',
      'list',
      'boolean',
      'text',
    ])
    expect(columnOf(found, 'Tags').example).toEqual({
      before: 'vip, demo',
      after: [{ property: 'tags', value: 'vip · demo' }],
    })
    await act(tenant, found, 'start', 'completed')
    expect(await propertiesOf('a@x.example')).toMatchObject({
      tags: ['vip', 'demo'],
      Groups: ['Team', 'Board'],
      VIP: true,
    })
    const semicolons = await uploaded(
      tenant,
      'email,Products\na@x.example,Basic; Pro\nb@x.example,"Pro; Maps, large"\n',
    )
    expect(columnOf(semicolons, 'Products')).toMatchObject({ type: 'list', format: 'semicolons' })
  })

  test('phone numbers stay readable', async () => {
    const cells = [
      '0041 31 000 00 00',
      '+49 (0)30 123456',
      'tel:+442079460000',
      '030 / 12 34 56',
      '(415) 555-0100 ext. 7',
      '12',
    ]
    const found = await uploaded(tenant, rowsOf('Phone #', cells))
    expect(columnOf(found, 'Phone #')).toMatchObject({ type: 'phone', example: { before: '0041 31 000 00 00' } })
    await act(tenant, found, 'start', 'completed')
    const { contacts } = (await tenant.call('GET', '/v1/contacts?sort_by=email&sort_dir=asc')).body
    expect(contacts.map((each: { properties: { phone: string } }) => each.properties.phone)).toEqual([
      '+41 31 000 00 00',
      '+49 30 123456',
      '+442079460000',
      '030 / 12 34 56',
      '(415) 555-0100 ext. 7',
      '12',
    ])
  })
})

test.each(['T', ' 1', '0 ', '1.', ',1', 'a ', '| ', '* '])('long cells of %j are read at once', async (part) => {
  const cell = `x${part.repeat(20_000 / part.length)}x`
  const header = 'email,Name,Joined,Phone,Paid,Tags'
  const found = await uploaded(tenant, `${header}\na@x.example${`,"${cell}"`.repeat(5)}\n`)
  expect(await act(tenant, found, 'start', 'completed')).toMatchObject({ counts: { created: 1 } })
})

test('an error names the cell, and says what is wrong with it and what to do', async () => {
  const header = 'Mail;Birthday;Paid;VIP;Stage;Web domain;Born'
  const rows = [
    'a@x.example;31.12.1985;1,50;yes;Lead;x.example;01/31/1980',
    'nobody;31.12.1985;1,50;yes;Lead;x.example;',
    ';31.12.1985;1,50;yes;Lead;x.example;',
    'b@x.example;31.02.1985;much;perhaps;Boss;no domain;31/12/1980',
  ]
  const found = await uploaded(tenant, `${header}\n${rows.join('\n')}\n`)
  const columns = [
    { column: 0, target: 'email' },
    { column: 1, target: 'property', property: 'birthday', type: 'date' },
    { column: 2, target: 'property', property: 'paid', type: 'number' },
    { column: 3, target: 'property', property: 'vip', type: 'boolean' },
    { column: 4, target: 'property', property: 'lifecyclestage' },
    { column: 5, target: 'property', property: 'company_domain' },
    { column: 6, target: 'property', property: 'born', type: 'date', format: 'month_first' },
  ]
  await tenant.call('PUT', `/v1/imports/${found.import_id}/mapping`, { columns })
  await act(tenant, found, 'start', 'completed')
  const { errors } = await importOf(tenant, found.import_id)
  expect(errors.map(({ row, message }) => [row, message])).toEqual([
    [2, '“nobody” in Mail is not an email address. Write it like ada@example.com.'],
    [3, 'Mail is blank, so the contact cannot be found. Enter it.'],
    [
      4,
      [
        '“31.02.1985” in Birthday is not a date. Correct it, or store the column as text.',
        '“much” in Paid is not a number such as 1.250,50. Correct it, or store the column as text.',
        '“perhaps” in VIP is neither yes nor no. Correct it, or store the column as text.',
        '“31/12/1980” in Born is not a date with the month first. Correct it, or store the column as text.',
        '“boss” in Stage is not a lifecycle stage. Use one of lead, prospect, mql, sql, opportunity, customer, evangelist, subscriber, other.',
        '“no domain” in Web domain is not a domain. Write it like example.com.',
      ].join(' '),
    ],
  ])
})
