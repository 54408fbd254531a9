import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasDovecot } from '../../../test/dovecot.ts'
import { type MailBench, mailTo, type Sender, startMailBench } from '../../../test/mail.ts'
import { createTestTenant, type TestTenant } from '../../../test/service.ts'
import { until } from '../../../test/webhooks.ts'
import type { OutgoingMail } from './outgoing.ts'
import { sendMail } from './send.ts'
import { findSentMessage } from './sent-folder.ts'

/** A mail is sent at most once. If its outcome is unknown, the error says so and the mail is not sent again. */
describe.skipIf(!hasDovecot)('when a connection or a process fails during sending', () => {
  let bench: MailBench
  let tenant: TestTenant
  let sender: Sender
  let mail: OutgoingMail

  beforeAll(async () => {
    bench = await startMailBench()
  })
  afterAll(() => bench?.close())
  beforeEach(async () => {
    tenant = await createTestTenant(bench.service)
    sender = await bench.addSender(tenant)
    mail = mailTo(sender, await tenant.contact('grace@example.com'), 'grace@example.com')
    bench.servers.smtp.accepted.length = 0
    bench.servers.smtp.onMail = () => null
  })

  const send = () => sendMail(tenant.handle, bench.service.mail, mail)
  const find = () => findSentMessage(tenant.handle, bench.service.mail, sender.identityId, mail.messageId)
  const events = async () => {
    const { body } = await tenant.call('GET', `/v1/contacts/events/${mail.contactId}`)
    return body.events.map(({ event }: { event: string }) => event)
  }

  test('a mail that the server accepted without a reply has an unknown outcome and is not sent again', async () => {
    bench.servers.smtp.onMail = () => 'drop'
    await expect(send()).rejects.toMatchObject({ code: 'mail_outcome_unknown', status: 409 })
    bench.servers.smtp.onMail = () => null
    await expect(send()).rejects.toMatchObject({ code: 'mail_outcome_unknown' })
    expect(bench.servers.smtp.accepted).toHaveLength(1)
    expect(await find()).toBeNull()
    expect(await events()).toEqual([])
  })

  test('a mail that is found in the Sent folder counts as sent, at its time in the folder', async () => {
    bench.servers.smtp.onMail = () => 'drop'
    await expect(send()).rejects.toMatchObject({ code: 'mail_outcome_unknown' })
    const [{ raw } = { raw: '' }] = bench.servers.smtp.accepted
    const receivedAt = new Date(Math.floor(Date.now() / 1000) * 1000 - 5_000)
    await bench.servers.imap.append(sender.mailbox, raw, { folder: 'Sent', receivedAt })
    expect(await find()).toEqual({ messageId: mail.messageId, sentAt: receivedAt })
    expect(await send()).toMatchObject({ messageId: mail.messageId, sentAt: receivedAt })
    expect(bench.servers.smtp.accepted).toHaveLength(1)
    expect(await events()).toEqual(['email_sent'])
  })

  test('a provider that stores sent mail itself gets no second copy, and its copy resolves an unknown outcome', async () => {
    bench.servers.smtp.onMail = async ({ raw }) => {
      await bench.servers.imap.append(sender.mailbox, raw, { folder: 'Sent' })
      return null
    }
    await send()
    const count = () =>
      bench.servers.imap.asOwner(sender.mailbox, async (client) => {
        const status = await client.status('Sent', { messages: true })
        return status ? status.messages : undefined
      })
    expect(await count()).toBe(1)
    mail = { ...mail, messageId: `second-${mail.messageId}` }
    bench.servers.smtp.onMail = async ({ raw }) => {
      await bench.servers.imap.append(sender.mailbox, raw, { folder: 'Sent' })
      return 'drop' as const
    }
    expect(await send()).toMatchObject({ messageId: mail.messageId })
    expect(await count()).toBe(2)
  })

  test('a second call is rejected while the first is sending; after the lease expires, the outcome is unknown', async () => {
    const response = Promise.withResolvers<null>()
    const arrived = Promise.withResolvers<void>()
    bench.servers.smtp.onMail = () => {
      arrived.resolve()
      return response.promise
    }
    const first = send()
    await arrived.promise
    await expect(send()).rejects.toMatchObject({ code: 'mail_in_progress' })
    await tenant.handle.db
      .updateTable('mail_sends')
      .set({ claimed_until: new Date(0) })
      .execute()
    await expect(send()).rejects.toMatchObject({ code: 'mail_outcome_unknown' })
    // The first call was still running, and its result counts.
    response.resolve(null)
    const sent = await first
    expect(await send()).toEqual(sent)
    expect(bench.servers.smtp.accepted).toHaveLength(1)
  })

  test('if a process dies before it records the mail, the next call records it', async () => {
    const sent = await send()
    await tenant.handle.db.updateTable('mail_sends').set({ recorded_at: null }).execute()
    await tenant.handle.db.deleteFrom('conversation_threads').execute()
    expect(await send()).toEqual(sent)
    const { body } = await tenant.call('GET', `/v1/contacts/${mail.contactId}/conversations`)
    expect(body.total_items).toBe(1)
    expect(bench.servers.smtp.accepted).toHaveLength(1)
  })

  test('a mail is sent even if the Sent folder is unavailable', async () => {
    const restarted = bench.servers.imap.restart(3_000)
    await until(() => expect(find()).rejects.toMatchObject({ code: 'mail_unavailable' }))
    await send()
    expect(bench.servers.smtp.accepted).toHaveLength(1)
    await restarted
  })

  test('an account without IMAP can send', async () => {
    await bench.addSender(tenant, { imap: null }).then(({ identityId }) => {
      mail = { ...mail, identityId }
      sender = { ...sender, identityId }
    })
    await send()
    expect(await find()).toBeNull()
    expect(await events()).toEqual(['email_sent'])
  })
})
