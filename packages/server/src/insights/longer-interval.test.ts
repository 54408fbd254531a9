import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestTenant } from '../../test/service.ts'

let tenant: TestTenant

beforeAll(async () => {
  tenant = await createTestTenant(await sharedService())
})

const YEAR = { date_from: '2025-01-01', date_to: '2025-12-31', interval: 'hour' }
const firstOf = {
  trend: ({ intervals }: { intervals: string[] }) => intervals[0],
  retention: ({ cohorts }: { cohorts: { from: string }[] }) => cohorts[0]?.from,
  web: ({ intervals }: { intervals: string[] }) => intervals[0],
}

test.each([
  ['trend', { series: [{ metric: 'count' }] }],
  ['retention', { start: { event: 'page_view' } }],
  ['web', {}],
] as const)(
  '%s: a year has too many hours, and is answered by day if a longer interval is allowed',
  async (kind, own) => {
    const ask = (more: object) => tenant.call('POST', `/v1/insights/${kind}`, { ...YEAR, ...own, ...more })
    const refused = await ask({})
    expect([refused.status, refused.body.error?.details?.[0]?.path]).toEqual([400, 'interval'])
    const { status, body } = await ask({ longer_interval: true })
    expect([status, body.error]).toEqual([200, undefined])
    expect(firstOf[kind](body)).toBe('2025-01-01')
  },
)
