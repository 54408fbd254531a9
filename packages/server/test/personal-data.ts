import Type, { type TObject, type TSchema } from 'typebox'
import { expect } from 'vitest'
import { OPERATIONS } from '../src/assembly/all-operations.ts'
import type { Tenant } from '../src/platform/tenant.ts'
import { insertMailbox, MAIL, propose } from './actions.ts'
import { send } from './hooks.ts'
import { oneOfEach } from './one-of-each.ts'
import { call, type TestService, type TestTenant } from './service.ts'
import { until } from './webhooks.ts'

/** The address of the person whose values are everywhere in `createPersonalData`. */
export const EMAIL = 'zorblax.quintorp@mailtoken.example'
export const PERSON = {
  firstname: 'Zorblax',
  lastname: 'Quintörp',
  phone: '+49 171 5550123',
  'Mobile Phone': '0172-6660123',
  street: 'Wibblestraße 17',
  zip: '80331',
  city: 'Zedburg',
  date_of_birth: '1984-03-09',
  linkedin_url: 'https://www.linkedin.com/in/zq-profiletoken',
  avatar: 'https://img.example/avatartoken.png',
  bio: 'Loves bioflugel.',
  last_ip: '203.0.113.77',
  nick: 'plain',
  username: 'zedtoken99',
  owner_name: 'Ownertoken Wibb',
  country: 'France',
  state: 'Bavaria',
  industry: 'Software',
  lifecyclestage: 'lead',
  plan: 'gold',
  seats: 12,
  jobtitle: 'Assistant of Zorblax Quintörp',
}
/** Every part of the person's values, in lower case, and of the texts that people wrote. */
const TOKENS = [
  'zorblax', 'quintörp', 'quintorp', 'quint%c3%b6rp', 'mailtoken', '5550123', '6660123', 'wibblestra', '80331', 'zedburg',
  '1984-03-09', 'profiletoken', 'avatartoken', 'bioflugel', '203.0.113.77', 'zedtoken', 'ownertoken', 'notetoken', 'subjecttoken',
  'bodytoken', 'rawtoken', 'oldtoken', 'formtoken', 'querytoken', 'fragmenttoken', 'chattoken', 'strangertoken', 'lossttoken', 'dottedtoken', '80997',
] // biome-ignore format: a list

/** What the operation of a route declares about its response; nothing for other values. */
export function schemaOfResponse(route?: string): TObject | TSchema {
  if (route === undefined) return {}
  const operation = OPERATIONS.find(({ http }) => http === route)
  if (operation === undefined) throw new Error(`There is no operation ${route}.`)
  return Type.Object({ status: Type.Literal('success'), ...operation.output })
}

/** The body of a successful response. */
export async function bodyOf(tenant: TestTenant, method: string, path: string, body?: unknown) {
  const response = await tenant.call(method, path, body)
  expect([path, response.status, JSON.stringify(response.body).slice(0, 300)]).toEqual([
    path,
    expect.toSatisfy((status: number) => status < 300),
    expect.anything(),
  ])
  return response.body
}

/**
 * Creates one of everything, with a person's values in properties, texts, URLs, event data and mails.
 * @returns the ids, by their names in paths; `merged_id` is a contact merged into `contact_id`.
 */
export async function createPersonalData(service: TestService, tenant: TestTenant): Promise<Record<string, string>> {
  const ok = (method: string, path: string, body?: unknown) => bodyOf(tenant, method, path, body)
  // Its member's address is of the whole installation, and files share a service.
  const ids = await oneOfEach(service, tenant, `plain-${tenant.id}`)
  const mergedId = await tenant.contact(
    'lossttoken@mailtoken.example',
    { firstname: 'Lossttoken', city: 'Zedburg' },
    { visitor_id: 'v-merged' },
  )
  const contactId = await tenant.contact(EMAIL, PERSON, { visitor_id: 'v-z', company_id: ids.company_id })
  // Nested traits become properties with a dot in their name.
  const address = { street: 'Dottedtoken 5', postalCode: '80997', country: 'France' }
  const traits = { address, name: { first: 'Zorblax' }, Name: 'Zorblax Quintörp', account: { seats: 12 } }
  await ok('POST', '/v1/identify', { email: EMAIL, properties: traits })
  const url = `https://${tenant.site}/u/Zorblax-Quint%C3%B6rp/zorblax.quintorp?email=zorblax.quintorp%40mailtoken.example&q=querytoken&utm_source=news&utm_content=zorblax.quintorp%40mailtoken.example#fragmenttoken`
  const data = {
    title: 'Welcome back, ZORBLAX Quintorp!',
    text: `Signed in as ${EMAIL} (0049 171 / 5550123)`,
    path: '/u/zorblax_quintorp?x=querytoken',
    message: 'notetoken for you',
    email: EMAIL.toUpperCase(),
    user: { first_name: 'Zorblax', address: { street: 'Wibblestraße 17', city: 'Zedburg', country: 'France' } },
    json: JSON.stringify({ email: EMAIL, last: 'Quint\u00f6rp', firstname: 'Strangertoken' }),
    [EMAIL]: 1,
    count: 3,
  }
  await tenant.track({
    visitor_id: 'v-z',
    context: { referrer: `https://mail.example/inbox/${EMAIL}?q=querytoken` },
    events: [
      { event: 'page_view', url, data },
      { event: 'signup', url: '/', title: 'zorblax quintörp', data: { from: 'Zorblax' } },
    ],
  })
  // An anonymous visitor whose page names the contact by address only.
  await tenant.track({
    visitor_id: 'v-anonymous',
    events: [
      {
        event: 'forward',
        title: `Forward to ${EMAIL}`,
        url: `https://${tenant.site}/f?to=${EMAIL}`,
        data: { firstname: 'Strangertoken', text: 'Hi Strangertoken, from Zorblax' },
      },
    ],
  })
  await call(service, 'POST', `/v1/public/form-submission/${tenant.id}/form-1`, {
    headers: { origin: `https://${tenant.site}` },
    body: JSON.stringify({ contact_data: { email: EMAIL, comments: 'formtoken asks', firstName: 'Zorblax' } }),
  })
  await ok('POST', '/v1/sources/hubspot/contacts', {
    records: [
      {
        external_id: EMAIL,
        email: EMAIL,
        properties: { firstname: 'Oldtoken', notes: 'notetoken', plan: 'silver' },
        updated_at: '2020-01-01T00:00:00Z',
        raw: { deep: 'rawtoken' },
      },
    ],
  })
  const mapping = { contact: { email: { path: 'email' } } }
  const { hook, url: hookUrl } = await ok('POST', '/v1/hooks', {
    name: 'Orders',
    source: 'orders',
    kind: 'custom',
    mapping,
  })
  const received = await send(service, { url: new URL(hookUrl).pathname }, { ...data, payload: { ...data, ...PERSON } })
  ids.hook_id = hook.hook_id
  ids.body_id = received.body.body_id
  const { note } = await ok('POST', `/v1/contacts/${contactId}/notes`, { content: 'Call Zorblax: notetoken' })
  const participants = { from: { address: EMAIL, name: 'Zorblax Quintörp' }, to: [{ name: 'Chattoken Support' }] }
  const pushed = await ok('POST', '/v1/sources/helpdesk/conversations', {
    records: [
      {
        thread_key: 't',
        subject: 'subjecttoken',
        messages: [
          {
            message_id: EMAIL,
            direction: 'inbound',
            ...participants,
            sent_at: '2026-01-31T08:00:00Z',
            text: 'bodytoken',
            html: '<p>bodytoken</p>',
          },
        ],
      },
    ],
  })
  ids.thread_id = pushed.results[0].thread_id
  await createFailedMailbox(tenant.handle, ids.identity_id ?? '')
  await tenant.track({
    visitor_id: 'v-merged',
    events: [{ event: 'page_view', title: 'Hello Lossttoken', url: `https://${tenant.site}/lossttoken` }],
  })
  await ok('POST', `/v1/contacts/${mergedId}/merge`, { into: contactId })
  const filter = {
    match: 'all',
    conditions: [
      { property: 'email', operator: 'equals', value: EMAIL },
      { property: 'city', operator: 'in', value: ['Zedburg'] },
      { property: 'country', operator: 'equals', value: 'France' },
    ],
  }
  ids.segment_id = (
    await ok('POST', '/v1/segments', { name: `Like ${EMAIL}`, description: `As ${EMAIL} said`, filter })
  ).segment.segment_id
  const where = [
    { property: 'contact.email', operator: 'equals', value: EMAIL },
    { property: 'data.user.address.street', operator: 'not_equals', value: 'Wibblestraße 17' },
  ]
  const question = { series: [{ label: `Of ${EMAIL}`, where }, { where: [] }], breakdown: ['title', 'event'] }
  ids.report_id = (await ok('POST', '/v1/reports', { name: `Like ${EMAIL}`, kind: 'trend', question })).report.report_id
  await ok('POST', '/v1/alerts', {
    ...{ name: `Few of ${EMAIL}`, report_id: ids.report_id, at: { series: 'A' } },
    condition: { operator: 'below', value: 1 },
  })
  const mail = { ...MAIL, params: { subject: 'Hi Zorblax', message: 'bodytoken, Zorblax' } }
  const place = { contactId, agentId: ids.agent_id, runId: ids.run_id, actionIndex: 0 }
  await propose(tenant.handle, service.jobs, { ...place, ...mail } as Parameters<typeof propose>[2])
  await tenant.handle.db
    .updateTable('agent_run_contacts')
    .set({ reasoning: 'Zorblax from Zedburg looked at pricing twice.' })
    .where('contact_id', '=', contactId)
    .execute()
  await ok('POST', '/v1/suppressions', { address: EMAIL, details: `550 ${EMAIL} is full` })
  await ok('POST', '/v1/views', { name: 'Mine', page: 'contacts', query: { search: 'zorblax' }, columns: [] })
  ids.import_id = (await tenant.upload(`email,first name,city\n${EMAIL},Zorblax,Zedburg\n`)).body.import.import_id
  await until(async () =>
    expect((await tenant.call('GET', `/v1/segments/${ids.segment_id}`)).body.segment.contact_count).toBe(1),
  )
  await ok('POST', `/v1/imports/${ids.import_id}/preview`)
  await until(async () => expect((await tenant.call('GET', `/v1/imports/${ids.import_id}/preview`)).status).toBe(200))
  return {
    ...ids,
    note_id: note.note_id,
    action_index: '0',
    contact_id: contactId,
    visitor_id: 'v-z',
    address: EMAIL,
    merged_id: mergedId,
  }
}

/** A mailbox that is not read again, whose error names the person. */
async function createFailedMailbox(tenant: Tenant, identity_id: string): Promise<void> {
  const imap = { host: 'mail.example', port: 993, security: 'tls', user: 'grace@mail.example', login: 'password' }
  const next_attempt_at = new Date('2100-01-01')
  await tenant.transaction(async (tx) => {
    await insertMailbox(tx, identity_id, { settings: JSON.stringify({ smtp: imap, imap }) })
    const mailbox = { identity_id, state: 'failed', error: `${EMAIL} was rejected`, next_attempt_at }
    await tx.db.insertInto('mailboxes').values(mailbox).execute()
  })
}

/** A text as it is, decoded from URLs, and from JSON, in lower case. */
function readings(value: unknown): string {
  const text = JSON.stringify(value)
  const decoded = text.replace(/(%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
  const unescaped = text.replace(/\\+u([0-9a-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
  return [text, decoded, unescaped].join('\n').toLowerCase()
}

/** In a result that names no contact, a first name alone is a word like any other; full names are still found. */
const FIRST_NAMES = ['lossttoken', 'strangertoken']
const NAMES_NOBODY = /overview|event.text|^(title|url|text|url_path)$/

/** @param where names the output in failures */
export function expectNoToken(redacted: unknown, where: string): void {
  const known = NAMES_NOBODY.test(where) ? FIRST_NAMES : []
  const text = known.reduce((rest, name) => rest.replaceAll(name, ''), readings(redacted))
  expect([where, ...TOKENS.filter((token) => text.includes(token)), '']).toEqual([where, ''])
}
