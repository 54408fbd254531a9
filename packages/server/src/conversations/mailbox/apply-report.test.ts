import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestTenant, startTestService, type TestService } from '../../../test/service.ts'
import { suppressionOf } from '../../identities/suppressions.ts'
import { recordMessages } from '../record.ts'
import { applyReport } from './apply-report.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

test('a report stops the mail to the one whom a mail went to, and of a mail to several to nobody', async () => {
  const tenant = await createTestTenant(service)
  const person = (address: string) => ({ address, name: null })
  await tenant.contact('ada@example.com')
  await tenant.contact('bob@example.com')
  const mail = {
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
  await recordMessages(tenant.handle, service.writing, [
    { ...mail, messageId: 'both@x', to: [person('ada@example.com')], cc: [person('bob@example.com')] },
    { ...mail, messageId: 'one@x', to: [person('bob@example.com')], cc: [] },
  ])
  const report = { reason: 'bounced', recipients: ['bob@example.com'], details: null } as const
  const apply = (messageId: string) =>
    applyReport(tenant.handle, { ...report, recipients: [...report.recipients], messageId }, new Date())
  expect(await apply('both@x')).toEqual([])
  expect(await suppressionOf(tenant.handle, 'bob@example.com')).toBeNull()
  expect(await apply('one@x')).toEqual(['bob@example.com'])
  expect(await suppressionOf(tenant.handle, 'bob@example.com')).toMatchObject({ reason: 'bounced' })
})
