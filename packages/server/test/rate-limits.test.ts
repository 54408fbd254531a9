import { expect, test } from 'vitest'
import { call, createTestTenant, startTestService } from './service.ts'

test('requests over a limit are 429 with the time to wait', async () => {
  const limited = await startTestService({
    CDS_RATE_LIMITS: 'on',
    CDS_RATE_LIMIT_TRACK_PER_IP_PER_MINUTE: '3',
    CDS_RATE_LIMIT_API_PER_MINUTE: '2',
  })
  try {
    const own = await createTestTenant(limited)
    const statuses: number[] = []
    for (let n = 0; n < 4; n++) statuses.push((await own.track({ events: [{ event: 'x' }] })).status)
    expect(statuses).toEqual([200, 200, 200, 429])
    const first = await own.call('GET', '/v1/events')
    expect(first.headers.get('ratelimit-limit')).toBe('2')
    expect(first.headers.get('ratelimit-remaining')).toBe('1')
    await own.call('GET', '/v1/events')
    const refused = await own.call('GET', '/v1/events')
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  } finally {
    await limited.close()
  }
})

test('forms are limited by person, by address and form, and by tenant; every request of an allowed page counts', async () => {
  const limited = await startTestService({
    CDS_RATE_LIMITS: 'on',
    CDS_RATE_LIMIT_FORM_PER_PERSON_PER_MINUTE: '2',
    CDS_RATE_LIMIT_FORM_PER_IP_PER_MINUTE: '6',
    CDS_RATE_LIMIT_FORM_PER_TENANT_PER_MINUTE: '9',
  })
  try {
    const own = await createTestTenant(limited)
    const submit = async (email: string, form = 'f', origin = `https://${own.site}`) => {
      const response = await call(limited, 'POST', `/v1/public/form-submission/${own.id}/${form}`, {
        headers: { origin },
        // A blank visitor id is not a visitor, so it has no limit.
        body: JSON.stringify({ visitor_id: '', contact_data: { email } }),
      })
      return response.status
    }
    expect(await submit('not allowed', 'f', 'https://evil.example')).toBe(403)
    // The spellings of an address are one person.
    expect(await submit('ada@b\u00fccher.example')).toBe(200)
    expect(await submit(' ADA@bu\u0308cher.example ')).toBe(200)
    expect(await submit('ada@xn--bcher-kva.example')).toBe(429)
    expect(await submit('broken')).toBe(400)
    expect(await submit('b@example.com')).toBe(200)
    expect(await submit('c@example.com')).toBe(200)
    // Six from this address with this form; another form has a separate limit, until the tenant's nine are used up.
    expect(await submit('d@example.com')).toBe(429)
    expect(await submit('e@example.com', 'g')).toBe(200)
    expect(await submit('f@example.com', 'g')).toBe(200)
    expect(await submit('g@example.com', 'g')).toBe(429)
  } finally {
    await limited.close()
  }
})
