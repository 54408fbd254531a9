import type { Client } from '@modelcontextprotocol/client'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { connectClient, dataOf, textOf } from '../../test/mcp.ts'
import { daysAgo } from '../../test/mcp-workspace.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'
import { OPERATIONS } from '../assembly/all-operations.ts'

/** A model should need few calls and read little. */
const CALLS_MAX = 4
const CHARACTERS_MAX = 6_000

// biome-ignore lint/suspicious/noExplicitAny: a model reads results of every shape
type Read = any

/** A question, the calls that a model makes one after another, and what it concludes. */
interface Question {
  question: string
  calls: ((read: Read[]) => [string, object])[]
  answer(read: Read[]): unknown
  right: unknown
  /** The answer for a connection from which the texts of messages are hidden, if it differs. */
  hidden?: unknown
}

let service: TestService
let tenant: TestTenant
let agentId: string

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  await seed()
})

interface Seen {
  daysAgo: number
  path: string
  email: string
  event?: string
  referrer?: string
}

const PEOPLE = [
  // Looked at pricing: ada twice and got a reply, grace twice without one, alan once, linus twice but long ago.
  {
    email: 'ada@initech.example',
    firstname: 'Ada',
    country: 'DE',
    lifecyclestage: 'customer',
    industry: 'Software',
    seats: 40,
  },
  { email: 'grace@globex.example', firstname: 'Grace', country: 'FR', lifecyclestage: 'lead', industry: 'Software' },
  {
    email: 'alan@hooli.example',
    firstname: 'Alan',
    country: 'FR',
    lifecyclestage: 'customer',
    industry: 'Retail',
    seats: 10,
  },
  { email: 'linus@umbrella.example', firstname: 'Linus', country: 'DE', lifecyclestage: 'lead', industry: 'Retail' },
  {
    email: 'edsger@initech.example',
    firstname: 'Edsger',
    country: 'DE',
    lifecyclestage: 'customer',
    industry: 'Software',
    seats: 20,
  },
  { email: 'barbara@globex.example', firstname: 'Barbara', country: 'DE', lifecyclestage: 'lead', industry: 'Retail' },
]

const SEEN: Seen[] = [
  { email: 'ada@initech.example', path: '/pricing', daysAgo: 3 },
  { email: 'ada@initech.example', path: '/pricing', daysAgo: 2 },
  { email: 'ada@initech.example', path: '/docs', daysAgo: 61 },
  { email: 'grace@globex.example', path: '/pricing', daysAgo: 4 },
  { email: 'grace@globex.example', path: '/pricing', daysAgo: 1 },
  { email: 'grace@globex.example', path: '/customers', daysAgo: 1.02 },
  { email: 'grace@globex.example', path: '/demo', daysAgo: 0.5, event: 'demo_requested' },
  { email: 'grace@globex.example', path: '/pricing', daysAgo: 15 },
  { email: 'grace@globex.example', path: '/blog/launch', daysAgo: 60 },
  { email: 'alan@hooli.example', path: '/pricing', daysAgo: 2 },
  { email: 'alan@hooli.example', path: '/blog/launch', daysAgo: 2.1 },
  { email: 'linus@umbrella.example', path: '/pricing', daysAgo: 50 },
  { email: 'linus@umbrella.example', path: '/pricing', daysAgo: 55 },
  ...[1, 2, 3].map((days) => signUp(`new${days}@signups.example`, days, 'https://www.google.com/')),
  ...[1.5, 4].map((days) => signUp(`new${days}@signups.example`, days, 'https://news.example.org/item')),
  ...[9, 10, 11, 12].map((days) => signUp(`old${days}@signups.example`, days, 'https://old.example.net/')),
  { email: 'old9@signups.example', path: '/video', daysAgo: 3, event: 'video_complete' },
  { email: 'barbara@globex.example', path: '/video', daysAgo: 3, event: 'video_complete' },
]

function signUp(email: string, days: number, referrer: string): Seen {
  return { email, path: '/signup', daysAgo: days, event: 'signed_up', referrer }
}

async function seed(): Promise<void> {
  const make = async (path: string, body: unknown) => {
    const response = await tenant.call('POST', path, body)
    expect([path, response.status]).toEqual([path, expect.toSatisfy((status: number) => status < 300)])
    return response.body
  }
  const companies = new Map<string, string>()
  for (const { email, ...properties } of PEOPLE) {
    const domain = email.split('@')[1] ?? ''
    const companyId =
      companies.get(domain) ?? (await make('/v1/companies', { domain, name: domain })).company.company_id
    companies.set(domain, companyId)
    await tenant.contact(email, properties, { company_id: companyId })
  }
  await make('/v1/events', {
    events: SEEN.map(({ daysAgo: days, path, event = 'page_view', referrer, ...more }) => ({
      ...more,
      event,
      url: `https://www.shop.example${path}`,
      title: path.slice(1),
      timestamp: daysAgo(days),
      ...(referrer === undefined ? {} : { context: { referrer } }),
    })),
  })
  const say = (from: string, to: string, direction: string, text: string, days: number) => ({
    message_id: `${from}-${days}`,
    direction,
    from: { address: from },
    to: [{ address: to }],
    sent_at: daysAgo(days),
    text,
  })
  const thread = (email: string, subject: string, messages: object[]) => ({
    thread_key: subject,
    subject,
    contact: { external_id: email, email },
    messages,
  })
  await make('/v1/sources/helpdesk/conversations', {
    records: [
      thread('ada@initech.example', 'More seats', [
        say('ada@initech.example', 'sales@shop.example', 'inbound', 'What do 10 more seats cost?', 3),
        say('sales@shop.example', 'ada@initech.example', 'outbound', 'The offer is attached.', 1),
      ]),
      thread('linus@umbrella.example', 'Self-hosting', [
        say('sales@shop.example', 'linus@umbrella.example', 'outbound', 'Shall we talk?', 9),
        say('linus@umbrella.example', 'sales@shop.example', 'inbound', 'Can we host it ourselves?', 8),
      ]),
    ],
  })
  const settings = { enabled: true, capabilities: ['email'], llm_config: { provider: 'template' } }
  agentId = (await make('/v1/agents', { name: 'Follow-up', ...settings })).agent.agent_id
}

const contactsOf = (read: Read) => read.contacts.map(({ properties }: Read) => properties.firstname).sort()
const bucketsOf = (read: Read) => Object.fromEntries(read.buckets.map(({ key, value }: Read) => [key, value]))
const all = (...conditions: object[]) => ({ match: 'all', conditions })
const did = (event: object) => ({ event, operator: 'did' })
const didNot = (event: object) => ({ event, operator: 'did_not' })
const is = (property: string, value: string) => ({ property, operator: 'equals', value })

const QUESTIONS: Question[] = [
  {
    question: 'Who looked at pricing twice this week and got no reply?',
    calls: [
      () => ['describe_schema', { parts: ['events'] }],
      ([schema]) => {
        const sent = Object.keys(schema.events.event_types).filter((name) => name.endsWith('_sent'))
        const looked = did({ type: 'page_view', url_contains: '/pricing', within_days: 7, min_count: 2 })
        return ['search_contacts', { filter: all(looked, ...sent.map((type) => didNot({ type, within_days: 7 }))) }]
      },
    ],
    answer: ([, found]) => contactsOf(found),
    right: ['Grace'],
  },
  {
    question: 'Which companies came back after a month of silence?',
    calls: [
      () => ['aggregate', { entity: 'events', group_by: 'company_id', filters: { date_after: daysAgo(7) } }],
      () => [
        'aggregate',
        { entity: 'events', group_by: 'company_id', filters: { date_after: daysAgo(37), date_before: daysAgo(7) } },
      ],
      () => ['aggregate', { entity: 'events', group_by: 'company_id', filters: { date_before: daysAgo(37) } }],
      (read) => ['get_company', { company_id: returned(read)[0] }],
    ],
    answer: (read) => [returned(read).length, read[3].company.name],
    right: [1, 'initech.example'],
  },
  {
    question: "Where did last week's sign-ups come from?",
    calls: [
      () => [
        'aggregate',
        {
          entity: 'events',
          group_by: 'referring_domain',
          filters: { event_type: 'signed_up', date_after: daysAgo(7) },
        },
      ],
    ],
    answer: ([sources]) => bucketsOf(sources),
    right: { 'google.com': 3, 'news.example.org': 2 },
  },
  {
    question: 'What do our contacts in France read?',
    calls: [
      () => ['search_contacts', { filter: all(is('country', 'FR')), limit: 50 }],
      ([found]) => [
        'aggregate',
        {
          entity: 'events',
          group_by: 'url_path',
          filters: { event_type: 'page_view', contact_ids: found.contacts.map(({ contact_id }: Read) => contact_id) },
        },
      ],
    ],
    answer: ([, pages]) => bucketsOf(pages),
    right: { '/pricing': 4, '/blog/launch': 2, '/customers': 1 },
  },
  {
    question: 'How many leads in Germany has nobody written to?',
    calls: [
      () => [
        'search_contacts',
        {
          filter: all(is('lifecyclestage', 'lead'), is('country', 'DE'), didNot({ type: 'chat_message_sent' })),
          count_only: true,
        },
      ],
    ],
    answer: ([counted]) => counted.total,
    right: 1,
  },
  {
    question: 'What did Grace look at before she asked for a demo?',
    calls: [
      () => ['search_contacts', { query: 'grace' }],
      ([found]) => ['query_events', { contact_id: found.contacts[0].contact_id, event_type: 'demo_requested' }],
      ([found, demos]) => [
        'query_events',
        {
          contact_id: found.contacts[0].contact_id,
          event_type: 'page_view',
          after: daysAgo(2),
          before: demos.events[0].timestamp,
        },
      ],
    ],
    answer: ([, , views]) => views.events.map(({ url }: Read) => new URL(url).pathname),
    right: ['/pricing', '/customers'],
  },
  {
    question: 'What did we last discuss with Linus, and who owes a reply?',
    calls: [
      () => ['search_contacts', { query: 'linus' }],
      ([found]) => ['conversations', { contact_id: found.contacts[0].contact_id, include_messages: true }],
    ],
    answer: ([, { conversations }]) => {
      const [{ subject, messages }] = conversations
      const last = messages.toSorted((a: Read, b: Read) => a.sent_at.localeCompare(b.sent_at)).at(-1)
      return [subject, last.text, last.direction === 'inbound' ? 'we' : 'they']
    },
    right: ['Self-hosting', 'Can we host it ourselves?', 'we'],
    hidden: ['[text withheld: 12 characters]', '[text withheld: 25 characters]', 'we'],
  },
  {
    question: 'In which industries are our customers, and how many seats do they have on average?',
    calls: [
      () => [
        'aggregate',
        {
          entity: 'contacts',
          group_by: 'industry',
          filters: { lifecycle_stage: 'customer' },
          metric: 'avg',
          metric_field: 'seats',
        },
      ],
    ],
    answer: ([seats]) => bucketsOf(seats),
    right: { Software: 30, Retail: 10 },
  },
  {
    question: 'Save those who watched the whole video but never signed up. Who is it?',
    calls: [
      () => ['preview_segment', { filter: watched() }],
      () => ['create_segment', { name: 'Watched, not signed up', filter: watched() }],
      ([, created]) => ['segment_members', { segment_id: created.segment.segment_id }],
    ],
    answer: ([previewed, created, members]) => [previewed.count, created.segment.name, contactsOf(members)],
    right: [1, 'Watched, not signed up', ['Barbara']],
  },
  {
    question: 'Did more people sign up this week than in the week before?',
    calls: [
      () => ['event_stats', { event_type: 'signed_up', group_by: 'type', after: daysAgo(7) }],
      () => ['event_stats', { event_type: 'signed_up', group_by: 'type', after: daysAgo(14), before: daysAgo(7) }],
    ],
    answer: (read) => read.map(({ total }) => total),
    right: [5, 4],
  },
]

/** The companies with events in the week and long ago, but none in the month between. */
function returned([week, month, before]: Read[]): string[] {
  const [ofMonth, ofBefore] = [bucketsOf(month), bucketsOf(before)]
  return Object.keys(bucketsOf(week)).filter((id) => id in ofBefore && !(id in ofMonth))
}

function watched(): object {
  return all(did({ type: 'video_complete' }), didNot({ type: 'signed_up' }))
}

/** Makes the calls of a question. @returns what a model reads of the results */
async function ask(client: Client, { question, calls }: Pick<Question, 'question' | 'calls'>): Promise<Read[]> {
  const read: Read[] = []
  let characters = 0
  for (const call of calls) {
    const [name, args] = call(read)
    const request = async () => {
      const result = await client.callTool({ name, arguments: args as Record<string, unknown> })
      expect([question, name, result.isError ?? false, textOf(result)]).toEqual([
        question,
        name,
        false,
        expect.anything(),
      ])
      characters += textOf(result).length
      return dataOf(result)
    }
    read.push(name === 'segment_members' ? await counted(request) : await request())
  }
  expect(calls.length).toBeLessThanOrEqual(CALLS_MAX)
  expect(characters).toBeLessThanOrEqual(CHARACTERS_MAX)
  return read
}

/** A new segment has its members within seconds. */
async function counted(request: () => Promise<Read>): Promise<Read> {
  let members: Read
  await until(async () => {
    members = await request()
    expect(members.contacts).not.toEqual([])
  })
  return members
}

async function connect(key: string): Promise<Client> {
  const client = await connectClient(service, key, 'modern')
  onTestFinished(() => client.close())
  return client
}

test.each(QUESTIONS)('$question', async (question) => {
  expect(question.answer(await ask(await connect(await tenant.keyThatSeesAll()), question))).toEqual(question.right)
})

test.each(QUESTIONS)('With personal data hidden: $question', async (question) => {
  const answer = question.answer(await ask(await connect(tenant.key), question))
  expect(await withNames(answer)).toEqual(question.hidden ?? question.right)
})

/** An answer with the first names in place of their pseudonyms, as the person reads it. */
async function withNames(answer: unknown): Promise<unknown> {
  const { contacts } = (await tenant.call('GET', '/v1/contacts?limit=100')).body
  const names = contacts.map(({ contact_id, properties }: Read) => [`firstname:${contact_id}`, properties.firstname])
  return names.reduce(
    (known: unknown, [pseudonym, name]: string[]) =>
      JSON.parse(JSON.stringify(known).replaceAll(pseudonym ?? '', name ?? '')),
    answer,
  )
}

test.runIf(OPERATIONS.some(({ name }) => name === 'proposeAction'))(
  'Draft a follow-up for the lead who was most active this week.',
  async () => {
    const filters = { date_after: daysAgo(7), identified_only: true }
    const leads = all(is('lifecyclestage', 'lead'))
    const mail = (name: string) => ({ subject: 'Your visit', message: `Hello ${name}, shall we talk?` })
    const active = ([found, { buckets }]: Read[]) => {
      const { key } = buckets.find((bucket: Read) =>
        found.contacts.some(({ contact_id }: Read) => contact_id === bucket.key),
      )
      return found.contacts.find(({ contact_id }: Read) => contact_id === key)
    }
    const calls: Question['calls'] = [
      () => ['search_contacts', { filter: leads, limit: 50 }],
      () => ['aggregate', { entity: 'events', group_by: 'contact_id', filters }],
      () => ['describe_schema', { parts: ['agents'] }],
      (read) => [
        'propose_action',
        {
          agent_id: read[2].agents.list[0].agent_id,
          contact_id: active(read).contact_id,
          type: 'email_message',
          params: mail(active(read).properties.firstname),
          reason: 'The most active lead of the week.',
        },
      ],
    ]
    const [, , , proposed] = await ask(await connect(await tenant.keyThatSeesAll()), {
      question: 'Draft a follow-up',
      calls,
    })
    expect(proposed.action).toMatchObject({ type: 'email_message', status: 'pending_approval', params: mail('Grace') })
    const { body } = await tenant.call('GET', `/v1/approvals?agent_id=${agentId}`)
    expect(body.actions.map(({ params }: Read) => params)).toEqual([mail('Grace')])
  },
)
