import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { signedIn } from '../../../test/people.ts'
import type { Received } from '../../../test/receiver.ts'
import { createTestTenant, type TestTenant } from '../../../test/service.ts'
import { changesAreKnown, startWebhookBench, until, type WebhookBench } from '../../../test/webhooks.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const SECRET = 'sk_7hUGfpsmTdGKbgwq'

let bench: WebhookBench
let tenant: TestTenant

beforeAll(async () => {
  bench = await startWebhookBench()
})
afterAll(() => bench?.close())
beforeEach(async () => {
  tenant = await createTestTenant(bench.service)
  bench.receiver.received.length = 0
})

type Respond = (response: ServerResponse, request: Received) => void
const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Respond =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
/** What each path responds. */
function answers(byPath: Record<string, Respond>): void {
  bench.receiver.respond = (response, request) => {
    const respond = byPath[request.path.split('?')[0] ?? '']
    if (respond) respond(response, request)
    else json({ error: 'no such path' }, 404)(response, request)
  }
}
const asked = (path: string) => bench.receiver.received.filter((each) => each.path.startsWith(path))

const PERSON = {
  person: { first: 'Ada', title: 'Countess' },
  org: { site: 'analytical.io', name: 'Analytical', size: 12 },
}
const MAPPING = {
  contact: { properties: { firstname: { path: 'person.first' }, jobtitle: { path: 'person.title' } } },
  company: {
    domain: { path: 'org.site' },
    name: { path: 'org.name' },
    properties: { numberofemployees: { path: 'org.size' } },
  },
}

async function create(settings: object = {}) {
  const { status, body } = await tenant.call('POST', '/v1/enrichment/providers', {
    name: 'People',
    kind: 'http',
    url: bench.receiver.url('/people?email={{contact.email}}'),
    headers: [{ name: 'Authorization', value: 'Bearer {{secrets.api_key}}' }],
    secrets: { api_key: SECRET },
    mapping: MAPPING,
    ...settings,
  })
  expect([status, body.error]).toEqual([201, undefined])
  await changesAreKnown(bench.service)
  return body.provider
}
const change = async (id: string, settings: object) => {
  const { status, body } = await tenant.call('PATCH', `/v1/enrichment/providers/${id}`, settings)
  expect([status, body.error]).toEqual([200, undefined])
  await changesAreKnown(bench.service)
  return body
}
const provider = async (id: string) => (await tenant.call('GET', `/v1/enrichment/providers/${id}`)).body.provider
const read = async (id: string) => (await tenant.call('GET', `/v1/contacts/${id}?include=provenance,raw`)).body
const enrich = async (id: string) => (await tenant.call('POST', `/v1/contacts/${id}/enrich`)).body.enrichment
/** What became of a contact, once nothing waits. */
const settled = (id: string) =>
  until(async () => {
    const { enrichment } = (await tenant.call('GET', `/v1/contacts/${id}/enrich`)).body
    expect(enrichment.waiting).toBe(false)
    return enrichment
  })
const outcomes = ({ providers }: { providers: { outcome: string | null; error: { code: string } | null }[] }) =>
  providers.map(({ outcome, error }) => error?.code ?? outcome)

describe('a provider', () => {
  test('is asked about a new contact, and fills blanks of it and of its company as a source of its own', async () => {
    answers({ '/people': json(PERSON) })
    const { source, provider_id } = await create()
    expect(source).toBe('enrichment:people')
    const id = await tenant.contact('ada+1@example.com', { firstname: 'Augusta' })
    expect(await settled(id)).toMatchObject({
      providers: [
        {
          provider_id,
          provider: 'People',
          outcome: 'filled',
          error: null,
          filled: ['company.name', 'company.numberofemployees', 'company_id', 'jobtitle'],
        },
      ],
    })
    const [request] = asked('/people')
    expect([request?.path, request?.headers.authorization]).toEqual([
      '/people?email=ada%2B1%40example.com',
      `Bearer ${SECRET}`,
    ])
    const { contact, unified_profile } = await read(id)
    expect(contact.properties).toMatchObject({ firstname: 'Augusta', jobtitle: 'Countess' })
    expect(contact.properties_provenance.jobtitle.source).toBe('enrichment:people')
    expect(unified_profile.raw_data['enrichment:people'].answer).toEqual(PERSON)
    expect(unified_profile.sources['enrichment:people'].enriched_at).toBe(unified_profile.enriched_at)
    const { company } = (await tenant.call('GET', `/v1/companies/${contact.company_id}`)).body
    expect(company).toMatchObject({
      domain: 'analytical.io',
      name: 'Analytical',
      properties: { numberofemployees: 12 },
    })
    expect((await tenant.call('GET', '/v1/contacts?status=enriched&count_only=true')).body.count).toBe(1)
    expect((await provider(provider_id)).usage).toMatchObject({ requests: 1, filled: 1, found_nothing: 0, failed: 0 })
  })

  test('leaves removed what a person has removed, and is asked again only when its question changes', async () => {
    answers({ '/people': json(PERSON) })
    await create()
    const id = await tenant.contact('ada@example.com')
    await settled(id)
    await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { jobtitle: null }, company_id: null })
    await enrich(id)
    expect((await read(id)).contact).toMatchObject({ company_id: null, properties: { firstname: 'Ada' } })
    expect((await read(id)).contact.properties).not.toHaveProperty('jobtitle')
    expect(asked('/people')).toHaveLength(1)

    const records = [{ external_id: '7', properties: { city: 'London' } }]
    const pushed = await tenant.call('POST', '/v1/sources/crm/contacts', { records })
    const nameless = pushed.body.results[0].contact_id
    expect(outcomes(await settled(nameless))).toEqual([null])
    expect(asked('/people')).toHaveLength(1)
    await tenant.call('PUT', `/v1/contacts/${nameless}`, { properties: { email: 'bo@example.com' } })
    await until(() => expect(asked('/people')).toHaveLength(2))
    expect(outcomes(await settled(nameless))).toEqual(['filled'])
  })

  test('is asked in order, and only while something that it may fill is blank', async () => {
    answers({
      '/first': json({ person: { first: 'Ada' } }),
      '/second': json({ person: { first: 'Wrong', title: 'Countess' } }),
      '/third': json({ person: { title: 'Wrong' } }),
    })
    const mapping = { contact: MAPPING.contact }
    const made: { provider_id: string }[] = []
    for (const name of ['third', 'second', 'first']) {
      made.push(await create({ name, mapping, url: bench.receiver.url(`/${name}?e={{contact.email}}`) }))
    }
    const [third, second, first] = made.map(({ provider_id }) => provider_id)
    const order = (provider_ids: unknown[]) => tenant.call('POST', '/v1/enrichment/providers/order', { provider_ids })
    const { body } = await order([first, second, third])
    expect(body.providers.map(({ name }: { name: string }) => name)).toEqual(['first', 'second', 'third'])
    const id = await tenant.contact('ada@example.com')
    expect(outcomes(await settled(id))).toEqual(['filled', 'filled', null])
    expect((await read(id)).contact.properties).toMatchObject({ firstname: 'Ada', jobtitle: 'Countess' })
    expect(asked('/third')).toEqual([])
    const missing = [first, second]
    for (const wrong of [missing, [...missing, second], [...missing, third, first]]) {
      expect((await order(wrong)).body.error?.code).toBe('validation_error')
    }
    expect((await order(['x', ...missing])).body.error?.code).toBe('not_found')
    await change(second ?? '', { enabled: false })
    await change(first ?? '', { fills: ['jobtitle'] })
    const bo = await tenant.contact('bo@example.com')
    expect(outcomes(await settled(bo))).toEqual(['nothing', null, 'filled'])
    const known = (await read(bo)).contact.properties
    expect([known.firstname, known.jobtitle]).toEqual([undefined, 'Wrong'])
  })

  test('is asked once, however many ask at once, and its answers serve for as long as they are kept', async () => {
    answers({ '/people': (response, request) => setTimeout(() => json({})(response, request), 300) })
    const { provider_id } = await create({ cache_days: 7 })
    const id = await tenant.contact('ada@example.com')
    await Promise.all(Array.from({ length: 5 }, () => enrich(id)))
    await settled(id)
    expect(asked('/people')).toHaveLength(1)
    await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { email: 'else@example.com' } })
    await settled(id)
    await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { email: 'ada@example.com' } })
    await settled(id)
    expect(asked('/people')).toHaveLength(3)
    await enrich(id)
    bench.pass(6 * DAY)
    expect(outcomes(await enrich(id))).toEqual(['nothing'])
    expect(asked('/people')).toHaveLength(3)
    bench.pass(2 * DAY)
    await enrich(id)
    await settled(id)
    expect(asked('/people')).toHaveLength(4)
    expect((await provider(provider_id)).usage).toMatchObject({ found_nothing: expect.any(Number) })
  })

  test('keeps to its budget of a calendar month and to its limit of a minute', async () => {
    answers({ '/people': json({}) })
    const { provider_id } = await create({ monthly_budget: 3, requests_per_minute: 2 })
    const ids = await Promise.all([1, 2, 3, 4].map((number) => tenant.contact(`c${number}@example.com`)))
    await until(() => expect(asked('/people')).toHaveLength(2))
    const waiting = async () => {
      const found = await Promise.all(ids.map((id) => tenant.call('GET', `/v1/contacts/${id}/enrich`)))
      return found.filter(({ body }) => body.enrichment.waiting).length
    }
    await until(async () => expect(await waiting()).toBe(2))
    bench.pass(MINUTE)
    const all = await Promise.all(ids.map(settled))
    expect(all.flatMap(outcomes).sort()).toEqual(['nothing', 'nothing', 'nothing', 'provider_budget_used'])
    expect(asked('/people')).toHaveLength(3)
    const left = ids[all.findIndex((each) => outcomes(each)[0] === 'provider_budget_used')] ?? ''
    bench.pass(32 * DAY)
    expect(outcomes(await enrich(left))).toEqual(['nothing'])
    expect((await provider(provider_id)).usage.requests).toBe(1)
  })

  test('may answer with garbage, wrong values, too much or a redirect: nothing of it is filled, and it says so', async () => {
    answers({
      '/garbage': json('<html>'),
      '/list': json('"text"'),
      '/types': json({ person: { first: { given: 'Ada' }, title: 'Countess' }, org: { site: 7, name: ['x'] } }),
      '/large': (response) => response.end(`{"person":"${'x'.repeat(10_000_000)}"}`),
      '/redirect': (response) =>
        response.writeHead(302, { location: bench.receiver.url('/secret', '127.0.0.1') }).end(),
      '/gone': json({ key: SECRET }, 404),
      '/refused': json({ key: SECRET }, 418),
      '/echo': json({ person: { title: `with ${SECRET}` } }),
      '/null': json('{"person":{"first":"a\\u0000b"}}'),
    })
    const found: Record<string, unknown> = {}
    for (const path of ['garbage', 'list', 'types', 'large', 'redirect', 'gone', 'refused', 'echo', 'null']) {
      const { provider_id } = await create({ name: path, url: bench.receiver.url(`/${path}`) })
      const id = await tenant.contact(`${path}@example.com`)
      const [code] = outcomes(await settled(id))
      const { firstname, jobtitle } = (await read(id)).contact.properties
      found[path] = [code, firstname, jobtitle]
      const { last_error } = await provider(provider_id)
      expect([path, last_error?.code ?? null]).toEqual([path, String(code).startsWith('provider') ? code : null])
      await tenant.call('DELETE', `/v1/enrichment/providers/${provider_id}`)
    }
    expect(found).toEqual({
      garbage: ['provider_response_not_json', undefined, undefined],
      list: ['provider_response_not_json', undefined, undefined],
      types: ['filled', undefined, 'Countess'],
      large: ['provider_response_too_long', undefined, undefined],
      redirect: ['provider_redirected', undefined, undefined],
      gone: ['nothing', undefined, undefined],
      refused: ['provider_refused', undefined, undefined],
      echo: ['filled', undefined, 'with [secret]'],
      null: ['filled', 'ab', undefined],
    })
    expect(asked('/secret')).toEqual([])
  })

  test('that is down is asked again later, is paused after a few failures, and does not hold up the next one', async () => {
    const state = { status: 503 }
    answers({
      '/down': (response, request) => json(state.status === 200 ? PERSON : {}, state.status)(response, request),
      '/next': json({ person: { first: 'Next' } }),
    })
    const { provider_id } = await create({ name: 'down', url: bench.receiver.url('/down?e={{contact.email}}') })
    await create({
      name: 'next',
      url: bench.receiver.url('/next?e={{contact.email}}'),
      mapping: { contact: MAPPING.contact },
    })
    const ids: string[] = []
    for (const number of [1, 2, 3, 4]) {
      const id = await tenant.contact(`d${number}@example.com`)
      ids.push(id)
      await until(async () => {
        const { enrichment } = (await tenant.call('GET', `/v1/contacts/${id}/enrich`)).body
        const expected = number < 4 ? 'provider_unavailable' : 'provider_paused'
        expect([...outcomes(enrichment), enrichment.waiting]).toEqual([expected, 'filled', true])
      })
    }
    expect(asked('/down')).toHaveLength(3)
    const down = await provider(provider_id)
    expect(down).toMatchObject({ last_error: { code: 'provider_unavailable' }, usage: { requests: 3, failed: 3 } })
    expect(new Date(down.paused_until) > bench.now()).toBe(true)
    state.status = 200
    bench.pass(2 * MINUTE)
    for (const id of ids) expect(outcomes(await settled(id))).toEqual(['filled', 'filled'])
    expect((await provider(provider_id)).paused_until).toBeNull()
    for (const [status, code] of [
      [402, 'provider_over_quota'],
      [429, 'provider_rate_limited'],
      [401, 'provider_key_refused'],
    ] as const) {
      state.status = status
      await tenant.contact(`s${status}@example.com`)
      await until(async () => expect((await provider(provider_id)).last_error.code).toBe(code))
      expect((await provider(provider_id)).paused_until).not.toBeNull()
      await change(provider_id, { monthly_budget: status })
      expect((await provider(provider_id)).paused_until).toBeNull()
    }
  })

  test('that is slow lets a request wait for 8 seconds only', async () => {
    answers({ '/people': () => {} })
    await create()
    await tenant.call('PATCH', `/v1/enrichment`, {})
    const id = await tenant.contact('ada@example.com')
    const enrichment = await enrich(id)
    expect(enrichment.waiting).toBe(true)
    await until(async () => {
      const found = (await tenant.call('GET', `/v1/contacts/${id}/enrich`)).body.enrichment
      expect(outcomes(found)).toEqual(['provider_timeout'])
    })
  })
})

test('its settings can be changed, and are shown as they are', async () => {
  const { provider_id: id } = await create({ fills: ['jobtitle'], enabled: false })
  expect((await provider(id)).fills).toEqual(['jobtitle'])
  const mapping = { contact: { properties: { jobtitle: { path: 'title' } } } }
  const settings = { name: 'Directory', mapping, requests_per_minute: 5, cache_days: 1 }
  await change(id, settings)
  expect(await provider(id)).toMatchObject({ ...settings, fills: ['jobtitle'] })
})

test('a run of many contacts has providers asked about each, and undoing it takes back what they filled', async () => {
  const byEmail: Record<string, Respond> = {
    'ada@x.example': json(PERSON),
    'bo@x.example': json({}),
    'cy@x.example': json({}, 500),
  }
  answers({
    '/people': (response, request) => {
      const email = new URLSearchParams(request.path.split('?')[1]).get('email') ?? ''
      byEmail[email]?.(response, request)
    },
  })
  const ids = await Promise.all(Object.keys(byEmail).map((email) => tenant.contact(email)))
  await create()
  const before = (await tenant.call('GET', `/v1/contacts/${ids[0]}?include=provenance`)).body.contact
  const started = await tenant.call('POST', '/v1/enrichment/runs', {})
  const path = `/v1/enrichment/runs/${started.body.run.run_id}`
  await until(async () => {
    const found = await Promise.all(ids.map((id) => tenant.call('GET', `/v1/contacts/${id}/enrich`)))
    expect(found.map(({ body }) => outcomes(body.enrichment))).toEqual([
      ['filled'],
      ['nothing'],
      ['provider_unavailable'],
    ])
  })
  const run = async () => (await tenant.call('GET', path)).body.run
  expect(await run()).toMatchObject({ state: 'completed', enriched: 1, unchanged: 2 })
  const read = async () => (await tenant.call('GET', `/v1/contacts/${ids[0]}?include=provenance`)).body.contact
  expect((await read()).properties).not.toEqual(before.properties)
  expect((await tenant.call('POST', `${path}/undo`)).status).toBe(202)
  await until(async () => expect((await run()).state).toBe('undone'))
  expect(await read()).toEqual({ ...before, updated_at: expect.any(String) })
  // Whom a provider could not be asked about is not asked about any more on its behalf.
  const waiting = tenant.handle.db.selectFrom('enrichment_queue').select('contact_id')
  expect(await waiting.execute()).toEqual([])
})

describe('its secrets', () => {
  test('are never shown again, and go to no other host', async () => {
    answers({ '/people': json(PERSON) })
    const { provider_id, secret_names } = await create()
    expect(secret_names).toEqual(['api_key'])
    await settled(await tenant.contact('ada@example.com'))
    const path = `/v1/enrichment/providers/${provider_id}`
    const shown = await Promise.all(
      ['/v1/enrichment/providers', path, '/v1/audit-log'].map(async (each) => (await tenant.call('GET', each)).body),
    )
    const tried = (await tenant.call('POST', `${path}/test`, { email: 'ada@example.com' })).body
    expect(JSON.stringify([shown, tried])).not.toContain(SECRET)
    const { rows } = await bench.service.postgres.pool.query('SELECT * FROM enrichment_providers')
    expect(JSON.stringify(rows)).not.toContain(SECRET)
    expect(JSON.stringify(bench.service.logged)).not.toContain(SECRET)

    const url = bench.receiver.url('/people?email={{contact.email}}', 'other.example')
    const refused = await tenant.call('PATCH', path, { url })
    expect([refused.status, refused.body.error.details[0].path]).toEqual([400, 'secrets.api_key'])
    expect((await change(provider_id, { url, secrets: { api_key: 'another-secret' } })).changed).toEqual([
      'url',
      'secrets',
    ])
    const removed = await tenant.call('PATCH', path, { secrets: { api_key: null } })
    expect([removed.status, removed.body.error.details[0].path]).toEqual([400, 'secrets.api_key'])
    expect((await change(provider_id, { headers: [], secrets: { api_key: null } })).provider.secret_names).toEqual([])
  })
})

describe('a test of a provider', () => {
  test('shows what came and what would be filled, and fills nothing', async () => {
    answers({ '/people': json({ ...PERSON, person: { first: 'Ada', title: {} } }) })
    const { provider_id } = await create({ enabled: false })
    const id = await tenant.contact('ada@example.com')
    const tried = (body: object, key?: string) =>
      tenant.call('POST', `/v1/enrichment/providers/${provider_id}/test`, body, key)
    for (const about of [{ contact_id: id }, { email: 'bo@example.com' }]) {
      const { body } = await tried(about)
      expect(body.test).toMatchObject({
        outcome: 'found',
        properties: { firstname: 'Ada' },
        company: { domain: 'analytical.io', name: 'Analytical', properties: { numberofemployees: 12 } },
        problems: [{ path: 'person.title' }],
        response: { org: { size: 12 } },
      })
    }
    expect((await read(id)).contact.properties).toEqual({ email: 'ada@example.com' })
    expect((await provider(provider_id)).usage.requests).toBe(2)
    for (const wrong of [{}, { contact_id: id, email: 'a@example.com' }, { email: 'nobody' }]) {
      expect((await tried(wrong)).body.error.code).toBe('validation_error')
    }
    const survivor = await tenant.contact('countess@example.com')
    await tenant.call('POST', `/v1/contacts/${id}/merge`, { into: survivor })
    expect((await tried({ contact_id: id })).body.error.code).toBe('contact_merged')
    answers({ '/people': json({}, 500) })
    const failed = (await tried({ email: 'bo@example.com' })).body.test
    expect([failed.outcome, failed.error.code]).toEqual(['failed', 'provider_unavailable'])
    await change(provider_id, { url: bench.receiver.url('/people?n={{contact.lastname}}') })
    expect((await tried({ email: 'bo@example.com' })).body.test.outcome).toBe('not_asked')
  })
})

describe('what a provider said of a person', () => {
  test('goes with an erasure', async () => {
    answers({ '/people': json(PERSON) })
    await create()
    const id = await tenant.contact('ada@example.com')
    await settled(id)
    const admin = await signedIn(bench.service, tenant.id, 'admin')
    const stored = async () => {
      const { pool } = bench.service.postgres
      const found = await Promise.all(
        ['enrichment_answers', 'contact_sources', 'contacts'].map(async (table) => {
          const { rows } = await pool.query(`SELECT * FROM ${table} WHERE tenant_id = $1`, [tenant.id])
          return JSON.stringify(rows)
        }),
      )
      return found.filter((rows) => rows.includes('Countess')).length
    }
    expect(await stored()).toBe(3)
    const { body } = await admin.call('POST', '/v1/erasures', { contact_id: id })
    await until(async () => {
      const { receipt } = (await admin.call('GET', `/v1/erasures/${body.receipt.erasure_id}`)).body
      expect(receipt.status).not.toBe('running')
      expect(receipt.removed.enrichment_answers).toBe(1)
    })
    expect(await stored()).toBe(0)
  })
})

describe('the settings of a provider', () => {
  test('are checked', async () => {
    const send = async (settings: object) => {
      const whole = { name: 'x', kind: 'http', url: 'https://api.example.com/{{contact.email}}', mapping: MAPPING }
      const { status, body } = await tenant.call('POST', '/v1/enrichment/providers', { ...whole, ...settings })
      return status === 201 ? 'created' : `${body.error.code} ${body.error.details?.[0]?.path ?? ''}`.trim()
    }
    const found: Record<string, string> = {}
    const tries: Record<string, object> = {
      'a host by variable': { url: 'https://{{contact.city}}.example.com/' },
      'a variable right behind the host': { url: 'https://example.com{{contact.city}}/' },
      'an unknown variable': { url: 'https://api.example.com/{{visitor.ip}}' },
      'an open brace': { url: 'https://api.example.com/{{contact.email' },
      'plain http': { url: 'http://api.example.com/' },
      'a password in the URL': { url: 'https://a:b@api.example.com/' },
      'a missing secret': { headers: [{ name: 'X-Key', value: '{{secrets.key}}' }] },
      'a short secret': { secrets: { key: 'short' } },
      'a secret with a line break': { secrets: { key: 'long enough\r\nX: y' } },
      'a header that the service sets': { headers: [{ name: 'Host', value: 'x' }] },
      'an email to fill': { mapping: { contact: { properties: { email: { path: 'e' } } } } },
      'nothing to fill': { mapping: {} },
      'a malformed path': { mapping: { contact: { properties: { a: { path: 'a..b' } } } } },
      'what the mapping lacks': { fills: ['lastname'] },
      'a URL of a named kind': { kind: 'hunter', mapping: undefined, secrets: { api_key: SECRET } },
      'no key of a named kind': { kind: 'hunter', url: undefined, mapping: undefined },
      'no URL': { url: undefined },
      'a blank name': { name: '  ' },
      'no budget': { monthly_budget: 0 },
      'no rate': { requests_per_minute: 0 },
      'no cache': { cache_days: 0 },
      'a good one': {},
    }
    for (const [title, settings] of Object.entries(tries)) found[title] = await send(settings)
    expect(found).toEqual({
      'a host by variable': 'validation_error url',
      'a variable right behind the host': 'validation_error url',
      'an unknown variable': 'validation_error url',
      'an open brace': 'validation_error url',
      'plain http': 'validation_error url',
      'a password in the URL': 'url_not_allowed',
      'a missing secret': 'validation_error secrets.key',
      'a short secret': 'validation_error secrets.key',
      'a secret with a line break': 'validation_error secrets.key',
      'a header that the service sets': 'validation_error headers[0].name',
      'an email to fill': 'validation_error mapping.contact.properties.email',
      'nothing to fill': 'validation_error mapping',
      'a malformed path': 'validation_error mapping.contact.properties.a.path',
      'what the mapping lacks': 'validation_error fills',
      'a URL of a named kind': 'validation_error url',
      'no key of a named kind': 'validation_error secrets.api_key',
      'no URL': 'validation_error url',
      'a blank name': 'validation_error name',
      'no budget': 'validation_error monthly_budget',
      'no rate': 'validation_error requests_per_minute',
      'no cache': 'validation_error cache_days',
      'a good one': 'created',
    })
    for (let count = 1; count < 20; count++) expect(await send({})).toBe('created')
    expect(await send({})).toBe('too_many_enrichment_providers')
    const listed = (await tenant.call('GET', '/v1/enrichment/providers?page=2&limit=15')).body
    expect([listed.providers.length, listed.pagination.total_items]).toEqual([5, 20])
    const sources = new Set(
      (await tenant.call('GET', '/v1/enrichment/providers')).body.providers.map(
        ({ source }: { source: string }) => source,
      ),
    )
    expect(sources.size).toBe(20)
  })

  test('and its contacts are another tenant’s business, and need scopes', async () => {
    const { provider_id } = await create()
    const stranger = await createTestTenant(bench.service)
    const path = `/v1/enrichment/providers/${provider_id}`
    const refusals = async (key: string) => {
      const calls = [
        ['GET', path],
        ['PATCH', path, { enabled: false }],
        ['POST', `${path}/test`, { email: 'ada@example.com' }],
        ['DELETE', path],
      ] as const
      const found = await Promise.all(calls.map(([method, each, body]) => tenant.call(method, each, body, key)))
      return found.map(({ status, body }) => `${status} ${body.error?.code}`)
    }
    expect(await refusals(stranger.key)).toEqual(Array.from({ length: 4 }, () => '404 not_found'))
    expect((await refusals(await tenant.keyWith('settings:read'))).slice(1)).toEqual(
      Array.from({ length: 3 }, () => '403 insufficient_scope'),
    )
    const blind = await tenant.keyWith('settings:write')
    expect((await tenant.call('PATCH', path, { enabled: false }, blind)).body.error.code).toBe('insufficient_scope')
    expect((await tenant.call('GET', '/v1/enrichment/providers', undefined, stranger.key)).body.providers).toEqual([])
    const order = await tenant.call(
      'POST',
      '/v1/enrichment/providers/order',
      { provider_ids: [provider_id] },
      stranger.key,
    )
    expect(order.body.error.code).toBe('not_found')
  })
})
