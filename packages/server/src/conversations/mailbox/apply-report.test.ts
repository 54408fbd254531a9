import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService } from '../../../test/service.ts'
import { suppressionOf } from '../../identities/suppressions.ts'
import { recordMessages } from '../record.ts'
import { addWaiting, applyReport, retryWaiting } from './apply-report.ts'

let service: TestService

beforeAll(async () => {
  service = await sharedService()
})

const person = (address: string) => ({ address, name: null })
const MAIL = {
  channel: 'email',
  source: 'email',
  threadKey: null,
  inReplyTo: null,
  references: [],
  subject: 'Hello',
  from: person('sales@ours.example'),
  sentAt: new Date('2026-01-01T00:00:00Z'),
  direction: 'outbound',
  text: 'Hello',
  html: null,
  attachments: [],
  identityId: null,
} as const

test('a report suppresses the only recipient of a mail, and nobody if there are several', async () => {
  const tenant = await createTestTenant(service)
  await tenant.contact('ada@example.com')
  await tenant.contact('bob@example.com')
  await recordMessages(tenant.handle, service.writing, [
    { ...MAIL, messageId: 'both@x', to: [person('ada@example.com')], cc: [person('bob@example.com')] },
    { ...MAIL, messageId: 'one@x', to: [person('bob@example.com')], cc: [] },
  ])
  const report = { reason: 'bounced', recipients: ['bob@example.com'], details: null } as const
  const apply = (messageId: string) =>
    applyReport(tenant.handle, { ...report, recipients: [...report.recipients], messageId }, new Date())
  expect(await apply('both@x')).toEqual([])
  expect(await suppressionOf(tenant.handle, 'bob@example.com')).toBeNull()
  expect(await apply('one@x')).toEqual(['bob@example.com'])
  expect(await suppressionOf(tenant.handle, 'bob@example.com')).toMatchObject({ reason: 'bounced' })
})

test('a report waits ten minutes for its mail, and at most a hundred wait', async () => {
  const tenant = await createTestTenant(service)
  await tenant.contact('ada@example.com')
  const about = (messageId: string) => ({
    reason: 'bounced' as const,
    recipients: ['ada@example.com'],
    details: null,
    messageId,
  })
  const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 12, minutes))
  const first = addWaiting([], [about('late@x'), about('never@x')], at(0))
  expect(await retryWaiting(tenant.handle, first, at(9))).toEqual(first)
  await recordMessages(tenant.handle, service.writing, [
    { ...MAIL, messageId: 'late@x', to: [person('ada@example.com')], cc: [] },
  ])
  expect(await retryWaiting(tenant.handle, first, at(9))).toEqual(first.slice(1))
  expect(await suppressionOf(tenant.handle, 'ada@example.com')).toMatchObject({ reason: 'bounced' })
  expect(await retryWaiting(tenant.handle, first.slice(1), at(10))).toEqual([])
  const many = Array.from({ length: 100 }, (_, index) => about(`${index}@x`))
  expect(addWaiting(first, many, at(1)).map(({ report }) => report)).toEqual(many)
})
