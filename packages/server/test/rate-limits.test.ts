import { expect, test } from 'vitest'
import { createTestTenant, startTestService } from './service.ts'

test('limits refuse with 429 and say how long to wait', async () => {
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
