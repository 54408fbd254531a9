import type { Client } from '@modelcontextprotocol/client'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connectClient, dataOf, expectDeclared } from '../../test/mcp.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

/* A tool finds a contact by any spelling of its address, whether the agent sees addresses or not. */

const STORED = 'ren\u00e9@xn--bcher-kva.example'
const SPELLINGS = [
  STORED,
  'ren\u00e9@b\u00fccher.example',
  'rene\u0301@bu\u0308cher.example',
  'RENÉ@BÜCHER.Example',
  '\u200brené@xn--bcher-kva.example',
  're\u00adné@bücher。example\ufeff',
  'rené@ｂücher．example.',
]

let service: TestService
let tenant: TestTenant
let rene: string
const keys: Record<string, string> = {}

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const agent = { name: 'Agent', scopes: ['all'], redact_personal_data: true }
  keys.hidden = (await tenant.call('POST', '/v1/api-keys', agent)).body.api_key
  keys.shown = await tenant.keyThatSeesAll()
  const texts = Object.fromEntries(SPELLINGS.map((email, index) => [`field_${index}`, `Also writes as ${email}`]))
  rene = await tenant.contact(SPELLINGS[1] ?? '', { firstname: 'René', ...texts })
  await tenant.contact('rene@example.com', { firstname: 'Rene' })
  const events = SPELLINGS.map((email) => ({ event: 'seen', email, title: `Welcome ${email}`, data: { email } }))
  expect((await tenant.call('POST', '/v1/events', { events })).status).toBe(200)
})

async function connect(key: string): Promise<Client> {
  const client = await connectClient(service, key, 'auto')
  onTestFinished(() => client.close())
  return client
}

async function use(client: Client, name: string, args: Record<string, unknown>) {
  const result = await client.callTool({ name, arguments: args })
  expect([name, args, result.isError ? result.content : undefined]).toEqual([name, args, undefined])
  expectDeclared(name, result)
  return dataOf(result)
}

const idsIn = ({ contacts }: { contacts: { contact_id: string }[] }) => contacts.map(({ contact_id }) => contact_id)
const filterOf = (operator: string, value: unknown) => ({
  match: 'all',
  conditions: [{ property: 'email', operator, value }],
})

describe.each(['hidden', 'shown'])('with personal data %s', (kind) => {
  test.each(SPELLINGS)('search_contacts finds %j', async (query) => {
    const client = await connect(keys[kind] ?? '')
    expect(idsIn(await use(client, 'search_contacts', { query }))).toEqual([rene])
    expect(await use(client, 'search_contacts', { query, count_only: true })).toMatchObject({ total: 1 })
    for (const filter of [filterOf('equals', query), filterOf('in', ['nobody@example.com', query])]) {
      expect(idsIn(await use(client, 'search_contacts', { filter }))).toEqual([rene])
    }
  })
})

test('every spelling in a text becomes the one pseudonym of the contact', async () => {
  const client = await connect(keys.hidden ?? '')
  const { contact } = await use(client, 'get_contact', { contact_id: rene })
  const { events } = await use(client, 'query_events', { event_type: 'seen' })
  const texts = [
    ...SPELLINGS.map((_, index) => contact.properties[`field_${index}`]),
    ...events.flatMap(({ data }: { data: { title: string; email: string } }) => [data.title, data.email]),
  ]
  expect(texts).toHaveLength(3 * SPELLINGS.length)
  // What ends the text after an address may be the sentence's.
  const redacted = new RegExp(`^((Also writes as|Welcome) )?email:${rene}[.\\ufeff]?$`)
  for (const text of texts) expect(text).toMatch(redacted)
})

test('no spelling of an address is among what an agent sees from which it is hidden', async () => {
  const client = await connect(keys.hidden ?? '')
  const seen = [
    await use(client, 'search_contacts', { query: SPELLINGS[2] }),
    await use(client, 'get_contact', { contact_id: rene }),
    await use(client, 'query_events', { event_type: 'seen' }),
    await use(client, 'contact_timeline', { contact_id: rene }),
  ]
  const text = JSON.stringify(seen).normalize('NFC').toLowerCase()
  expect(text).toContain(`email:${rene}`)
  for (const part of ['bücher', 'bcher', 'rené']) expect([part, text.includes(part)]).toEqual([part, false])
})
