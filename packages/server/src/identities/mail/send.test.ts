import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasDovecot } from '../../../test/dovecot.ts'
import { type MailBench, mailTo, type Sender, startMailBench } from '../../../test/mail.ts'
import { createTestTenant, type TestTenant } from '../../../test/service.ts'
import { sendMail } from './send.ts'

describe.skipIf(!hasDovecot)('sending', () => {
  let bench: MailBench
  let tenant: TestTenant
  let sender: Sender
  let contactId: string

  beforeAll(async () => {
    bench = await startMailBench()
  })
  afterAll(() => bench?.close())
  beforeEach(async () => {
    tenant = await createTestTenant(bench.service)
    sender = await bench.addSender(tenant)
    contactId = await tenant.contact('grace@example.com', { firstname: 'Grace' })
    const { smtp } = bench.servers
    smtp.accepted.length = 0
    smtp.onRecipient = () => null
    smtp.onMail = () => null
  })

  test('a mail goes out once, lies in the Sent folder, and is an event and a conversation of its contact', async () => {
    const mail = mailTo(sender, contactId, 'Grace@example.com', { subject: 'Hällo', markdown: '**Hi** Grace' })
    const sent = await sendMail(tenant.handle, bench.service.mail, mail)
    expect(sent).toEqual({
      messageId: mail.messageId,
      sentAt: expect.any(Date),
      accepted: ['grace@example.com'],
      response: expect.stringContaining('250'),
    })
    const again = await sendMail(tenant.handle, bench.service.mail, mail)
    expect(again).toEqual(sent)
    const { accepted } = bench.servers.smtp
    expect(accepted).toHaveLength(1)
    expect(accepted[0]).toMatchObject({ from: sender.mailbox.user, to: ['grace@example.com'], secure: true })
    const inSent = await bench.servers.imap.asOwner(sender.mailbox, (client) =>
      client.status('Sent', { messages: true }),
    )
    expect(inSent).toMatchObject({ messages: 1 })
    const { body } = await tenant.call('GET', `/v1/contacts/${contactId}/conversations?include_messages=true`)
    expect(body.conversations).toMatchObject([
      {
        channel: 'email',
        subject: 'Hällo',
        messages: [{ message_id: mail.messageId, direction: 'outbound', text: 'Hi Grace' }],
      },
    ])
    const events = await tenant.call('GET', `/v1/contacts/events/${contactId}`)
    expect(events.body.events.map(({ event }: { event: string }) => event)).toEqual(['email_sent'])
  })
})
