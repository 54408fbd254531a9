import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHROME, call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { createSource } from '../../test/sources.ts'

/** Changes to a contact that a page can make, by identification in /track, by a form or by another SDK (decision 3.8). */
let service: TestService
let tenant: TestTenant
let browserKey: string

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  browserKey = await createSource(tenant, 'browser')
})

type Values = Record<string, unknown>

const WAYS: Record<
  'tracker' | 'form' | 'sdk',
  (email: string, properties: Values, company?: Values) => Promise<string[]>
> = {
  tracker: async (email, properties) => {
    const response = await tenant.track({ visitor_id: 'v', events: [], identify: { traits: { email, ...properties } } })
    expect(response.status).toBe(200)
    return response.body.warnings ?? []
  },
  form: async (email, properties, company_data) => {
    const response = await call(service, 'POST', `/v1/public/form-submission/${tenant.id}/contact-us`, {
      headers: { origin: `https://${tenant.site}`, 'user-agent': CHROME },
      body: JSON.stringify({ contact_data: { email, ...properties }, ...(company_data ? { company_data } : {}) }),
    })
    expect(response.status).toBe(200)
    return response.body.warnings ?? []
  },
  sdk: async (email, properties) => {
    const response = await call(service, 'POST', '/v1/i', {
      headers: { origin: `https://${tenant.site}`, 'user-agent': CHROME },
      body: JSON.stringify({ writeKey: browserKey, anonymousId: 'v', traits: { email, ...properties } }),
    })
    expect(response.status).toBe(200)
    return response.body.warnings ?? []
  },
}
const submit = WAYS.form

async function idOf(email: string): Promise<string> {
  const { body } = await tenant.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}`)
  return body.contacts[0].contact_id
}

async function read(email: string) {
  const id = await idOf(email)
  const { body } = await tenant.call('GET', `/v1/contacts/${id}?include=provenance&include_events=false`)
  return { ...body.contact, profile: body.unified_profile.profile }
}

const push = (source: string, properties: Values, more: Values = {}) =>
  tenant.call('POST', `/v1/sources/${source}/contacts`, {
    records: [{ external_id: '1', email: 'ada@example.com', properties, ...more }],
    ...(source === 'guesses' ? { kind: 'enrichment' } : {}),
  })

/** The names of decision 3.15. */
const CONSENT = [
  ...['do_not_contact', 'unsubscribed', 'opted_out', 'has_opted_out_of_email', 'hs_email_optout', 'email_opt_out'],
  ...['do_not_email', 'bounced', 'complained', 'unsubscribed_at'],
  ...['doNotContact', 'HasOptedOutOfEmail', 'Email Opt Out', 'hs_email_optout_10841063', 'DoNotCall'],
  ...['EMAIL_BLACKLIST', 'Email Marketing Consent', 'accepts_marketing'],
]
const allOf = (value: unknown) => Object.fromEntries(CONSENT.map((key) => [key, value]))

describe.each(['tracker', 'form', 'sdk'] as const)('a write from a page (%s)', (way) => {
  const say = WAYS[way]
  // The page is the source, whichever script it has.
  const source = way === 'form' ? 'form' : 'tracker'
  const other = way === 'form' ? 'tracker' : 'form'

  test('fills blanks, and replaces earlier values from pages', async () => {
    await tenant.contact('ada@example.com', { city: '' })
    expect(await say('ada@example.com', { city: 'London', plan: 'free' })).toEqual([])
    expect((await read('ada@example.com')).properties).toMatchObject({ city: 'London', plan: 'free' })
    expect(await WAYS[other]('ada@example.com', { city: 'Paris' })).toEqual([])
    expect(await say('ada@example.com', { plan: 'pro' })).toEqual([])
    const { properties, properties_provenance } = await read('ada@example.com')
    expect(properties).toMatchObject({ city: 'Paris', plan: 'pro' })
    expect(properties_provenance).toMatchObject({
      plan: { source },
      city: { source: other },
    })
  })

  test('never overrides values from people, a CRM, an import or the API, and lists the ignored keys', async () => {
    await tenant.contact('ada@example.com', { firstname: 'Ada' })
    await push('crm', { jobtitle: 'Countess', linkedin_url: 'https://linkedin.com/in/ada' })
    await push('guesses', { industry: 'Mathematics' })
    await tenant.call('POST', '/v1/identify', { email: 'ada@example.com', properties: { lead_status: 'open' } })
    const before = await read('ada@example.com')
    const warnings = await say('ada@example.com', {
      firstname: 'Mallory',
      jobtitle: 'Thief',
      linkedin_url: 'https://linkedin.com/in/mallory',
      industry: 'Crime',
      lead_status: 'closed',
      colour: 'red',
    })
    const after = await read('ada@example.com')
    expect(after.properties).toEqual({ ...before.properties, colour: 'red' })
    const { colour, ...provenance } = after.properties_provenance
    expect(colour.source).toBe(source)
    expect(provenance).toEqual(before.properties_provenance)
    for (const key of ['firstname', 'jobtitle', 'linkedin_url', 'industry', 'lead_status']) {
      expect(warnings.join()).toContain(key)
    }
    expect(warnings.join()).not.toContain('colour')
  })

  test('is stored as a separate record in unified_profile', async () => {
    await tenant.contact('ada@example.com', { firstname: 'Ada' })
    await say('ada@example.com', { firstname: 'Augusta' })
    expect((await read('ada@example.com')).profile.firstname).toMatchObject({
      has_conflict: true,
      all_sources: ['manual', source],
    })
  })

  test('becomes a source of the email, whose provenance does not change, and does not change the contact', async () => {
    await tenant.contact('ada@example.com')
    const before = await read('ada@example.com')
    expect(before.profile.email.all_sources).toEqual(['manual'])
    expect(await say('Ada@Example.com', {})).toEqual([])
    const { profile, ...after } = await read('ada@example.com')
    expect(profile.email).toEqual({
      unique_values: [
        {
          value: 'ada@example.com',
          sources: [
            { source: 'manual', updated_at: before.created_at },
            { source, updated_at: expect.any(String) },
          ],
        },
      ],
      all_sources: ['manual', source],
      has_conflict: false,
    })
    expect({ ...after, profile: before.profile }).toEqual(before)
    expect(after.properties_provenance.email.source).toBe('manual')
    const { body } = await tenant.call('GET', `/v1/contacts/${after.contact_id}`)
    expect(body.unified_profile.source_count).toBe(2)
  })

  test('is replaced by any verified value, however old', async () => {
    await say('ada@example.com', { city: 'Paris' })
    await push('crm', { city: 'London' }, { updated_at: '2020-01-01T00:00:00.000Z' })
    const { properties, properties_provenance } = await read('ada@example.com')
    expect(properties.city).toBe('London')
    expect(properties_provenance.city.source).toBe('crm')
    expect((await say('ada@example.com', { city: 'Paris' })).join()).toContain('city')
    expect((await read('ada@example.com')).properties.city).toBe('London')
  })

  test('cannot change a value that a verified source has confirmed', async () => {
    await say('ada@example.com', { city: 'London' })
    await tenant.call('PUT', `/v1/contacts/${await idOf('ada@example.com')}`, { properties: { city: 'London' } })
    expect((await say('ada@example.com', { city: 'Paris' })).join()).toContain('city')
    const { properties, properties_provenance } = await read('ada@example.com')
    expect(properties.city).toBe('London')
    expect(properties_provenance.city.source).toBe('manual')
  })

  test('replaces a verified value that was removed', async () => {
    await push('crm', { city: 'London' })
    await say('ada@example.com', { city: 'Paris' })
    await push('crm', { city: null })
    const { properties, properties_provenance } = await read('ada@example.com')
    expect(properties.city).toBe('Paris')
    expect(properties_provenance.city.source).toBe(source)
  })

  test('never touches what a person has said about mails, on a new contact neither', async () => {
    const ofNew = (await say('new@example.com', { ...allOf(true), city: 'Rome' })).join()
    const { properties, profile } = await read('new@example.com')
    expect(properties).toEqual({ email: 'new@example.com', city: 'Rome' })
    await tenant.contact('ada@example.com', allOf('yes'))
    const ofKnown = (await say('ada@example.com', allOf('no'))).join()
    expect((await read('ada@example.com')).properties).toMatchObject(allOf('yes'))
    for (const key of CONSENT) {
      expect(Object.keys(profile)).not.toContain(key)
      for (const warnings of [ofNew, ofKnown]) expect(warnings).toMatch(new RegExp(`\\b${key}\\b`))
    }
  })

  test('sets the lifecycle stage of a contact without one, and never replaces it', async () => {
    expect(await say('new@example.com', { lifecyclestage: 'lead' })).toEqual([])
    expect((await read('new@example.com')).properties.lifecyclestage).toBe('lead')
    expect((await say('new@example.com', { lifecyclestage: 'customer' })).join()).toContain('lifecyclestage')
    expect((await read('new@example.com')).properties.lifecyclestage).toBe('lead')
  })

  test.each([{ status: 'bounced' }, { email_status: 'invalid' }, { newsletter: 'no' }])(
    'cannot silence a contact with a property that may mean something else: %j',
    async (properties) => {
      const [name] = Object.keys(properties)
      expect(await say('ada@example.com', properties)).toEqual([expect.stringContaining(`${name}. Pages can`)])
      expect(await read('ada@example.com')).toMatchObject({ consent: null, properties: { email: 'ada@example.com' } })
      expect(await say('ada@example.com', { status: 'active', newsletter: 'weekly' })).toEqual([])
      expect((await read('ada@example.com')).properties).toMatchObject({ status: 'active', newsletter: 'weekly' })
    },
  )

  test('returns a response that does not reveal stored values, not even whether a guess is right', async () => {
    await tenant.contact('ada@example.com', { firstname: 'Ada', lifecyclestage: 'customer', do_not_contact: 'yes' })
    const right = await say('ada@example.com', { firstname: 'Ada', lifecyclestage: 'customer', do_not_contact: 'yes' })
    const wrong = await say('ada@example.com', { firstname: 'Eve', lifecyclestage: 'lead', do_not_contact: 'no' })
    expect(right).toEqual(wrong)
    expect(right.join()).not.toMatch(/Ada|customer|yes/)
  })

  test('does not override a concurrent verified write', async () => {
    const id = await tenant.contact('ada@example.com')
    const names = Array.from({ length: 8 }, (_, n) => `name${n}`)
    await Promise.all(
      names.flatMap((name) => [
        say('ada@example.com', { firstname: `page ${name}` }),
        tenant.call('PUT', `/v1/contacts/${id}`, { properties: { firstname: name } }),
      ]),
    )
    const { properties, properties_provenance } = await read('ada@example.com')
    expect(names).toContain(properties.firstname)
    expect(properties_provenance.firstname.source).toBe('manual')
  })

  test('does not change first-touch values', async () => {
    await tenant.track({
      visitor_id: 'v',
      events: [{ event: 'page_view', url: `https://${tenant.site}/?utm_source=ads` }],
    })
    await WAYS.tracker('ada@example.com', {})
    expect((await say('ada@example.com', { first_utm_source: 'forged' })).join()).toContain('first_utm_source')
    expect((await read('ada@example.com')).properties.first_utm_source).toBe('ads')
  })
})

describe('a company from a form', () => {
  const company = async (domain: string, name?: string, properties: Values = {}) => {
    const { body } = await tenant.call('POST', '/v1/companies', { domain, ...(name ? { name } : {}), properties })
    return body.company.company_id as string
  }
  const readCompany = async (id: string) => (await tenant.call('GET', `/v1/companies/${id}`)).body.company

  test('is set on a contact without one, and never replaces one', async () => {
    const id = await company('acme.example', 'Acme')
    expect(await submit('ada@example.com', {}, { domain: 'acme.example' })).toEqual([])
    expect((await read('ada@example.com')).company_id).toBe(id)
    const warnings = await submit('ada@example.com', {}, { domain: 'evil.example' })
    expect(warnings.join()).toContain('company_id')
    expect((await read('ada@example.com')).company_id).toBe(id)
    expect(await submit('ada@example.com', {}, { domain: 'acme.example' })).toEqual(warnings)
  })

  test('keeps its values from the API; its blanks are filled', async () => {
    const id = await company('acme.example', 'Acme', { industry: 'Anvils', lifecyclestage: 'customer', city: '' })
    const warnings = await submit(
      'ada@example.com',
      {},
      {
        domain: 'acme.example',
        name: 'Evil',
        industry: 'Crime',
        lifecyclestage: 'other',
        city: 'Rome',
        numberofemployees: 5,
      },
    )
    const { name, properties } = await readCompany(id)
    expect([name, properties]).toEqual([
      'Acme',
      { industry: 'Anvils', lifecyclestage: 'customer', city: 'Rome', numberofemployees: 5 },
    ])
    for (const key of ['name', 'industry', 'lifecyclestage']) expect(warnings.join()).toContain(`company_data.${key}`)
    expect(warnings.join()).not.toMatch(/city|numberofemployees/)
  })

  test('has values from forms replaced by later forms, until the API writes them', async () => {
    const company = { domain: 'acme.example', name: 'Acme', numberofemployees: 5, city: 'Rome' }
    await submit('ada@example.com', {}, company)
    const id = (await read('ada@example.com')).company_id
    expect(await submit('bob@example.com', {}, { ...company, name: 'ACME', numberofemployees: 6 })).toEqual([])
    expect(await readCompany(id)).toMatchObject({ name: 'ACME', properties: { numberofemployees: 6, city: 'Rome' } })
    // An equal value confirms it, which counts as well.
    await tenant.call('PUT', `/v1/companies/${id}`, { name: 'ACME', properties: { numberofemployees: 7 } })
    const warnings = await submit(
      'eve@example.com',
      {},
      { ...company, name: 'Evil', numberofemployees: 8, city: 'Oslo' },
    )
    expect(await readCompany(id)).toMatchObject({ name: 'ACME', properties: { numberofemployees: 7, city: 'Oslo' } })
    expect(warnings.join()).toMatch(/company_data\.name.*company_data\.numberofemployees/)
  })
})
