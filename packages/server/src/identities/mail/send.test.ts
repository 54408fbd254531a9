import PostalMime from 'postal-mime'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasDovecot } from '../../../test/dovecot.ts'
import { type MailBench, mailTo, type Sender, startMailBench } from '../../../test/mail.ts'
import { createTestTenant, type TestTenant } from '../../../test/service.ts'
import { DAY_MS } from '../../platform/time.ts'
import { suppress, suppressionOf } from '../suppressions.ts'
import { retryAtOf } from './errors.ts'
import type { OutgoingMail } from './outgoing.ts'
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

  const to = (more: Partial<OutgoingMail> = {}, from = sender) => mailTo(from, contactId, 'grace@example.com', more)
  const send = (mail: OutgoingMail) => sendMail(tenant.handle, bench.service.mail, mail)
  /** Sends a mail that must fail. @returns the error code. */
  const failure = async (mail: OutgoingMail) => {
    const error = await send(mail).then(
      () => new Error('it was sent'),
      (error: Error) => error,
    )
    return 'code' in error ? error.code : error.message
  }
  const inSent = () =>
    bench.servers.imap.asOwner(sender.mailbox, async (client) => {
      const status = await client.status('Sent', { messages: true })
      return status ? status.messages : undefined
    })
  const events = async () => {
    const { body } = await tenant.call('GET', `/v1/contacts/events/${contactId}`)
    return body.events.map(({ event }: { event: string }) => event)
  }

  test('a mail is sent once, stored in the Sent folder, and recorded as an event and a conversation of its contact', async () => {
    const mail = mailTo(sender, contactId, 'Grace@example.com', { subject: 'Hällo', markdown: '**Hi** Grace' })
    const sent = await send(mail)
    expect(sent).toEqual({
      messageId: mail.messageId,
      sentAt: expect.any(Date),
      accepted: ['grace@example.com'],
      response: expect.stringContaining('250'),
    })
    expect(await send(mail)).toEqual(sent)
    const { accepted } = bench.servers.smtp
    expect(accepted).toHaveLength(1)
    expect(accepted[0]).toMatchObject({ from: sender.mailbox.user, to: ['grace@example.com'], secure: true })
    expect(await inSent()).toBe(1)
    const { body } = await tenant.call('GET', `/v1/contacts/${contactId}/conversations?include_messages=true`)
    expect(body.conversations).toMatchObject([
      {
        channel: 'email',
        subject: 'Hällo',
        messages: [{ message_id: mail.messageId, direction: 'outbound', text: 'Hi Grace' }],
      },
    ])
    expect(await events()).toEqual(['email_sent'])
  })

  test('a mail has its sender, its references, and the same content as text and as HTML', async () => {
    const markdown =
      '# Hello\n\nsee [our page](https://example.com/a?b=1&c=2) & <b>this</b>\n\n- one\n- two\n\n<script>x()</script>\n\n![](https://t.example/p.png)'
    const references = ['first@example.com', 'second@example.com', 'bad id\r\nBcc: eve@example.com']
    await send(to({ markdown, subject: 'Grüße', inReplyTo: 'second@example.com', references }))
    const [{ raw } = { raw: '' }] = bench.servers.smtp.accepted
    const mail = await PostalMime.parse(raw)
    expect(mail).toMatchObject({
      from: { name: 'Ada Lovelace', address: sender.mailbox.user },
      to: [{ address: 'grace@example.com' }],
      subject: 'Grüße',
      inReplyTo: '<second@example.com>',
      references: '<first@example.com> <second@example.com>',
    })
    expect(mail.text?.trimEnd()).toBe('Hello\n\nsee our page (https://example.com/a?b=1&c=2) & this\n\n- one\n- two')
    expect(mail.html).toContain('<h1>Hello</h1>')
    expect(mail.html).toContain('<a href="https://example.com/a?b=1&amp;c=2">our page</a>')
    expect(mail.html).not.toMatch(/script|img|t\.example/)
    expect(raw).not.toMatch(/^(Bcc|List-Unsubscribe)/im)
  })

  test('the preview of an outreach is the mail that is sent, apart from its unsubscribe link', async () => {
    const message = 'Hi **Olga**,\n\nTwo paragraphs,\nand a line break.\n\nBest regards\nAda <b>Lovelace</b>'
    const { body } = await tenant.call('POST', '/v1/mail-previews', { subject: ' Your\n trial ', message })
    await send(to({ markdown: message, subject: ' Your\n trial ', isOutreach: true }))
    const mail = await PostalMime.parse(bench.servers.smtp.accepted[0]?.raw ?? '')
    const withoutLink = (part = '') =>
      part
        .replace(/\/unsubscribe\/[\w.-]+/g, '')
        .replaceAll('\r\n', '\n')
        .trim()
    expect(body.preview.subject).toBe(mail.subject)
    expect(withoutLink(body.preview.text)).toBe(withoutLink(mail.text))
    expect(withoutLink(body.preview.html)).toBe(withoutLink(mail.html))
    expect(body.preview.html).toContain('<br />and a line break')
    expect(body.preview.html).toContain('/unsubscribe/')
  })

  test('a line break in a subject or a body injects no header', async () => {
    await send(to({ subject: 'Hello\r\nBcc: eve@example.com\r\n\r\nbody', markdown: '.\r\n.\r\nQUIT\r\n.' }))
    const [mail] = bench.servers.smtp.accepted
    expect(mail?.to).toEqual(['grace@example.com'])
    expect(mail?.raw).not.toMatch(/^Bcc:/im)
    expect((await PostalMime.parse(mail?.raw ?? '')).subject).toBe('Hello Bcc: eve@example.com body')
  })

  test.each<[string, Partial<OutgoingMail>, string]>([
    ['a malformed address', { to: 'grace@example.com\r\nRCPT TO:<eve@example.com>' }, 'to'],
    ['an empty subject', { subject: ' \r\n ' }, 'subject'],
    ['a subject that is too long', { subject: 'x'.repeat(501) }, 'subject'],
    ['an empty body', { markdown: '\n' }, 'markdown'],
    ['a body that is too long', { markdown: 'x'.repeat(100_001) }, 'markdown'],
    ['a lone surrogate', { markdown: 'a\ud800' }, 'markdown'],
    ['a message id in brackets', { messageId: '<a@b.example>' }, 'messageId'],
    ['a message id with a line break', { messageId: 'a\r\nBcc: x@b.example' }, 'messageId'],
  ])('%s is refused before anything is stored', async (_, more, path) => {
    await expect(send(to(more))).rejects.toMatchObject({ code: 'validation_error', details: [{ path }] })
    expect(await tenant.handle.db.selectFrom('mail_sends').selectAll().execute()).toEqual([])
  })

  test('an identity without an account, a deleted contact and a suppressed address are refused', async () => {
    const { identityId } = await bench.addSender(tenant)
    await tenant.handle.db.deleteFrom('email_accounts').where('identity_id', '=', identityId).execute()
    expect(await failure(to({ identityId }))).toBe('identity_without_email')
    expect(await failure(to({ contactId: identityId }))).toBe('not_found')
    await suppress(tenant.handle, { address: 'Grace@Example.com', reason: 'manual', details: null }, bench.now())
    expect(await failure(to())).toBe('recipient_suppressed')
    expect(bench.servers.smtp.accepted).toEqual([])
  })

  test('a contact that opted out in the words of another system gets no mail, until it no longer says so', async () => {
    const say = (hs_email_optout: unknown) =>
      tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { hs_email_optout } })
    await say('true')
    const error = await send(to()).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'recipient_opted_out', status: 409, details: [{ message: 'hs_email_optout' }] })
    expect(bench.servers.smtp.accepted).toEqual([])
    expect(await tenant.handle.db.selectFrom('mail_sends').selectAll().execute()).toEqual([])
    await say('false')
    await send(to())
    expect(bench.servers.smtp.accepted).toHaveLength(1)
  })

  test('the daily limit is enforced, and the error says when the next mail can be sent', async () => {
    const slow = await bench.addSender(tenant, { dailyLimit: 2 })
    const mails = [1, 2, 3].map(() => to({}, slow))
    const [first, second, third] = mails as [OutgoingMail, OutgoingMail, OutgoingMail]
    const { sentAt } = await send(first)
    await send(second)
    const error = await send(third).catch((error) => error)
    expect(error).toMatchObject({ code: 'mail_daily_limit', status: 429 })
    const retryAt = retryAtOf(error)?.getTime() ?? 0
    expect(Math.abs(retryAt - sentAt.getTime() - DAY_MS)).toBeLessThan(10_000)
    expect(await send(first)).toMatchObject({ sentAt })
    bench.pass(DAY_MS + 1_000)
    await send(third)
    expect(bench.servers.smtp.accepted).toHaveLength(3)
  })

  test('the spacing between mails is enforced for concurrent sends', async () => {
    const slow = await bench.addSender(tenant, { spacingSeconds: 60 })
    const mails = Array.from({ length: 5 }, () => to({}, slow))
    const outcomes = await Promise.allSettled(mails.map(send))
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(errors.map(({ code }) => code)).toEqual(Array(4).fill('mail_spacing'))
    expect(retryAtOf(errors[0])?.getTime()).toBeGreaterThan(bench.now().getTime() + 30_000)
    expect(bench.servers.smtp.accepted).toHaveLength(1)
    bench.pass(61_000)
    await send(to({}, slow))
    await send(to())
  })

  test('the same mail sent concurrently is sent once', async () => {
    const mail = to()
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => send(mail)))
    const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'sent'))
    expect(codes).toContain('sent')
    expect(codes.filter((code) => code !== 'sent' && code !== 'mail_in_progress')).toEqual([])
    expect(bench.servers.smtp.accepted).toHaveLength(1)
    expect(await events()).toEqual(['email_sent'])
  })

  test('a message id cannot be reused for another mail', async () => {
    const mail = to()
    await send(mail)
    const other = await tenant.contact('eve@example.com')
    expect(await failure({ ...mail, contactId: other, to: 'eve@example.com' })).toBe('message_id_taken')
  })

  test('a recipient that does not exist is refused permanently and suppressed', async () => {
    bench.servers.smtp.onRecipient = () => ({ code: 550, text: '5.1.1 The account does not exist' })
    await expect(send(to())).rejects.toMatchObject({
      code: 'mail_refused',
      status: 409,
      message: expect.stringContaining('5.1.1 The account does not exist'),
    })
    expect(await suppressionOf(tenant.handle, 'grace@example.com')).toMatchObject({
      reason: 'bounced',
      details: expect.stringContaining('5.1.1'),
    })
    expect(await failure(to())).toBe('recipient_suppressed')
    expect(await events()).toEqual([])
  })

  test('a mail that is refused for its content does not suppress its recipient or count towards limits', async () => {
    const slow = await bench.addSender(tenant, { spacingSeconds: 60 })
    bench.servers.smtp.onMail = () => ({ code: 554, text: '5.7.1 looks like spam' })
    expect(await failure(to({}, slow))).toBe('mail_refused')
    bench.servers.smtp.onMail = () => null
    await send(to({}, slow))
  })

  test('a mail can be sent again after a temporary refusal', async () => {
    const mail = to()
    bench.servers.smtp.onRecipient = () => ({ code: 451, text: '4.7.1 greylisted' })
    await expect(send(mail)).rejects.toMatchObject({ code: 'mail_unavailable', status: 503 })
    bench.servers.smtp.onRecipient = () => 'drop'
    expect(await failure(mail)).toBe('mail_unavailable')
    bench.servers.smtp.onRecipient = () => null
    await send(mail)
    expect(bench.servers.smtp.accepted).toHaveLength(1)
  })
})
