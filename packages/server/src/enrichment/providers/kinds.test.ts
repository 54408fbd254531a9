import { expect, test } from 'vitest'
import { makeCertificate, startReceiver } from '../../../test/receiver.ts'
import { createTestTenant, startTestService } from '../../../test/service.ts'
import { changesAreKnown, until } from '../../../test/webhooks.ts'

/** Responses in the shape that each provider documents; fields that no mapping reads are left out. */
const HUNTER = {
  data: {
    person: {
      name: { givenName: 'Ada', familyName: 'Lovelace' },
      employment: { title: 'Countess', seniority: null, domain: 'analytical.io' },
      geo: { city: 'London', country: 'United Kingdom' },
    },
    company: { domain: 'analytical.io', name: 'Analytical', category: { industry: 'Engines' }, foundedYear: 1843 },
  },
}
/** Of a free plan, which shows only whether it has some of the values. */
const PEOPLE_DATA_LABS = {
  status: 200,
  likelihood: 9,
  data: { first_name: 'Ada', last_name: 'Lovelace', linkedin_url: 'linkedin.com/in/ada', location_locality: true },
}

test('Hunter and People Data Labs are asked with the key alone, and say in their own ways that nobody is found', async () => {
  const certificate = makeCertificate()
  const receiver = await startReceiver(certificate)
  const url = `https://127.0.0.1:${receiver.port}`
  const options = { outbound: { ca: certificate.certificate }, connectorUrls: { hunter: url, people_data_labs: url } }
  const service = await startTestService({ CDS_WEBHOOK_ALLOW_PRIVATE: '1' }, options)
  try {
    const tenant = await createTestTenant(service)
    const found = { '/v2/combined/find': HUNTER, '/v5/person/enrich': PEOPLE_DATA_LABS }
    receiver.respond = (response, { path }) => {
      const [place = '', query = ''] = path.split('?')
      const isKnown = query.includes('ada%40')
      response.writeHead(isKnown ? 200 : place.startsWith('/v2') ? 451 : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isKnown ? found[place as keyof typeof found] : { errors: [] }))
    }
    const secrets = { api_key: 'key-of-the-provider' }
    for (const kind of ['people_data_labs', 'hunter']) {
      const { status } = await tenant.call('POST', '/v1/enrichment/providers', { name: kind, kind, secrets })
      expect(status).toBe(201)
    }
    await changesAreKnown(service)
    const results = async (email: string) => {
      const id = await tenant.contact(email)
      const providers = await until(async () => {
        const { enrichment } = (await tenant.call('GET', `/v1/contacts/${id}/enrich`)).body
        expect(enrichment.waiting).toBe(false)
        return enrichment.providers
      })
      const { contact } = (await tenant.call('GET', `/v1/contacts/${id}`)).body
      return [contact.properties, ...providers.map(({ outcome }: { outcome: string }) => outcome)]
    }
    expect(await results('ada@analytical.example')).toEqual([
      {
        email: 'ada@analytical.example',
        firstname: 'Ada',
        lastname: 'Lovelace',
        linkedin_url: 'linkedin.com/in/ada',
        jobtitle: 'Countess',
        city: 'London',
        country: 'United Kingdom',
      },
      'filled',
      'filled',
    ])
    expect(await results('nobody@example.com')).toEqual([{ email: 'nobody@example.com' }, 'nothing', 'nothing'])
    const [first, second] = receiver.received
    expect([first?.path, first?.headers['x-api-key']]).toEqual([
      '/v5/person/enrich?email=ada%40analytical.example&titlecase=true',
      secrets.api_key,
    ])
    expect([second?.path, second?.headers['x-api-key']]).toEqual([
      '/v2/combined/find?email=ada%40analytical.example',
      secrets.api_key,
    ])
    const { companies } = (await tenant.call('GET', '/v1/companies')).body
    expect(companies).toMatchObject([
      { domain: 'analytical.io', name: 'Analytical', properties: { industry: 'Engines', founded_year: 1843 } },
    ])
  } finally {
    await service.close()
    await receiver.close()
  }
})
