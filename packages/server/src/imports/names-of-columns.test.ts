import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { act, uploaded } from '../../test/imports.ts'
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

/** Where each column goes. */
function targetsOf({ columns, mapping }: Import): Record<string, string> {
  return Object.fromEntries(mapping.map((each) => [columns[each.column]?.header ?? '', each.property ?? each.target]))
}

/** Imports a file as it is proposed. @returns the properties of the contact with the address. */
async function imported(content: string, email = 'ada@x.example'): Promise<Record<string, unknown>> {
  await act(tenant, await uploaded(tenant, content), 'start', 'completed')
  return (await tenant.call('GET', `/v1/contacts?search=${email}`)).body.contacts[0]?.properties
}

describe('a column goes where its name says, in the words of', () => {
  test.each([
    [
      'a spreadsheet',
      'Org.,Phone #,E-mail Address,Given name,Surname,Position,Zip,D.O.B.,Town',
      ['company', 'phone', 'email', 'firstname', 'lastname', 'jobtitle', 'zip', 'birthday', 'city'],
    ],
    [
      'a fair',
      'Organisation,Tel.,Mail,First,Last,Role,Post Code,Country / Region,# Employees',
      ['company', 'phone', 'email', 'firstname', 'lastname', 'jobtitle', 'zip', 'country', 'numberofemployees'],
    ],
    [
      'Outlook',
      'Title,First Name,Last Name,Company,Job Title,Business Street,Business City,Business Postal Code,Mobile Phone,E-mail Address',
      [...['Title', 'firstname', 'lastname', 'company', 'jobtitle', 'address', 'city', 'zip', 'phone', 'email']],
    ],
    [
      'Outlook in German',
      'Anrede;Vorname;Nachname;Firma;Position;Straße geschäftlich;Postleitzahl geschäftlich;Ort geschäftlich;Mobiltelefon;E-Mail-Adresse',
      [...['salutation', 'firstname', 'lastname', 'company', 'jobtitle', 'address', 'zip', 'city', 'phone', 'email']],
    ],
    [
      'Google Contacts',
      'First Name,Last Name,Organization Name,Organization Title,Birthday,E-mail 1 - Value,Phone 1 - Value,Address 1 - Street,Address 1 - City,Address 1 - Postal Code',
      ['firstname', 'lastname', 'company', 'jobtitle', 'birthday', 'email', 'phone', 'address', 'city', 'zip'],
    ],
    [
      'Mailchimp',
      'Email Address,First Name,Last Name,Address,Phone Number,Birthday,Company',
      ['email', 'firstname', 'lastname', 'address', 'phone', 'birthday', 'company'],
    ],
    [
      'Pipedrive',
      'Person - Name,Person - Organization,Person - Phone - Work,Person - Email - Work,Person - ID',
      ['full_name', 'company', 'phone', 'email', 'external_id'],
    ],
    [
      'Salesforce',
      'Contact ID,First Name,Last Name,Account Name,Mailing Street,Mailing City,Mailing Zip/Postal Code,Mobile,Email',
      ['external_id', 'firstname', 'lastname', 'company', 'address', 'city', 'zip', 'phone', 'email'],
    ],
  ])('%s', async (_, header, targets) => {
    const found = await uploaded(tenant, `${header}\n`)
    expect(Object.values(targetsOf(found))).toEqual(targets)
  })

  test('of several phone numbers, the best-named one is the phone', async () => {
    const found = await uploaded(tenant, 'Email,Mobile,Business Phone,Phone 2 - Value\na@x.example,1,2,3\n')
    expect(targetsOf(found)).toMatchObject({
      Mobile: 'Mobile',
      'Business Phone': 'phone',
      'Phone 2 - Value': 'Phone 2 - Value',
    })
    expect(found.columns[1]?.note).toEqual({ code: 'same_target', target: 'phone', column: 2 })
  })

  test('a profile at LinkedIn is known by its address, and a number of customers is their id', async () => {
    const found = await uploaded(tenant, 'URL,Email Address\nhttps://www.linkedin.com/in/ada,ada@x.example\n')
    expect(targetsOf(found)).toMatchObject({ URL: 'linkedin_url' })
    expect(targetsOf(await uploaded(tenant, 'URL,Email\nhttps://x.example,ada@x.example\n'))).toMatchObject({
      URL: 'URL',
    })
    const customers = await uploaded(tenant, 'Kundennr.;Bestellung #;E-Mail\n1001;7;ada@x.example\n')
    expect(targetsOf(customers)).toMatchObject({ 'Kundennr.': 'external_id' })
    expect(customers.mapping[1]).toMatchObject({ type: 'text' })
  })

  test('a stage of deals is no lifecycle stage', async () => {
    expect(targetsOf(await uploaded(tenant, 'Email,Stage\na@x.example,Negotiation\n'))).toMatchObject({
      Stage: 'Stage',
    })
    expect(targetsOf(await uploaded(tenant, 'Email,Stage\na@x.example,Lead\n'))).toMatchObject({
      Stage: 'lifecyclestage',
    })
  })
})

describe('a column with whole names is divided into first and last names', () => {
  test.each(['Name', 'Full name', 'Contact', 'Contact Name', 'Nom complet', 'Ansprechpartner', 'ФИО'])(
    '%s',
    async (header) => {
      const found = await uploaded(tenant, `${header},Email\nAda Lovelace,ada@x.example\n`)
      expect(found.mapping[0]).toEqual({ column: 0, target: 'full_name' })
    },
  )

  test('however they are written; a company stays whole', async () => {
    const rows = [
      'Ada Lovelace,ada@x.example',
      '"Hopper, Grace",grace@x.example',
      'Dr. Maria van der Berg,maria@x.example',
      'Cher,cher@x.example',
      'Kranich GmbH,office@kranich.example',
    ]
    const ada = await imported(`Name,Email\n${rows.join('\n')}\n`)
    expect(ada).toEqual({ email: 'ada@x.example', firstname: 'Ada', lastname: 'Lovelace' })
    const { contacts } = (await tenant.call('GET', '/v1/contacts?sort_by=email&sort_dir=asc')).body
    expect(contacts.map((each: { properties: object }) => each.properties)).toEqual([
      ada,
      { email: 'cher@x.example', firstname: 'Cher' },
      { email: 'grace@x.example', firstname: 'Grace', lastname: 'Hopper' },
      { email: 'maria@x.example', firstname: 'Maria', lastname: 'van der Berg', salutation: 'Dr.' },
      { email: 'office@kranich.example', name: 'Kranich GmbH' },
    ])
  })

  test('a column with the first or last name wins, where it is not blank', async () => {
    const text = 'Full name,Last name,Email\nAda Byron,Lovelace,ada@x.example\nGrace Hopper,,grace@x.example\n'
    expect(await imported(text)).toMatchObject({ firstname: 'Ada', lastname: 'Lovelace' })
    expect(await imported(text, 'grace@x.example')).toMatchObject({ firstname: 'Grace', lastname: 'Hopper' })
    const found = await uploaded(tenant, 'Name,First name,Last name,Email\nAda Byron,Ada,Lovelace,ada@x.example\n')
    expect(targetsOf(found)).toMatchObject({ Name: 'Name', 'First name': 'firstname', 'Last name': 'lastname' })
  })

  test('but beside one half of the name, it is the other half', async () => {
    const german = await uploaded(tenant, 'Name;Vorname;E-Mail\nLovelace;Ada;ada@x.example\n')
    expect(targetsOf(german)).toMatchObject({ Name: 'lastname', Vorname: 'firstname' })
    const spanish = await uploaded(tenant, 'Nombre,Apellidos,Correo\nMaría José,García Márquez,ada@x.example\n')
    expect(targetsOf(spanish)).toMatchObject({ Nombre: 'firstname', Apellidos: 'lastname' })
  })

  test('companies and addresses under such a name are no names of people', async () => {
    const companies = await uploaded(tenant, 'Name,Email\nKranich GmbH,a@x.example\nAcme Ltd,b@x.example\n')
    expect(targetsOf(companies)).toMatchObject({ Name: 'Name' })
    const addresses = await uploaded(tenant, 'Contact,City\na@x.example,Rome\nb@x.example,Oslo\n')
    expect(targetsOf(addresses)).toMatchObject({ Contact: 'email' })
  })
})
