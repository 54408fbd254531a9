import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasDovecot } from '../../../test/dovecot.ts'
import { type MailBench, mailTo, type Sender, startMailBench } from '../../../test/mail.ts'
import { call, createTestTenant, type TestTenant } from '../../../test/service.ts'
import { DAY_MS } from '../../platform/time.ts'
import { deleteIdentity } from '../identities.ts'
import { sendMail } from '../mail/send.ts'
import { suppressionOf } from '../suppressions.ts'

const ADDRESS = 'grace@example.com'

describe.skipIf(!hasDovecot)('unsubscribing', () => {
  let bench: MailBench
  let tenant: TestTenant
  let sender: Sender
  let contactId: string

  beforeAll(async () => {
    bench = await startMailBench({ CDS_PUBLIC_URL: 'https://cds.example.com/base/' })
  })
  afterAll(() => bench?.close())
  beforeEach(async () => {
    tenant = await createTestTenant(bench.service)
    sender = await bench.addSender(tenant)
    contactId = await tenant.contact(ADDRESS)
    bench.servers.smtp.accepted.length = 0
  })

  const outreach = () => mailTo(sender, contactId, ADDRESS, { isOutreach: true })
  /** Sends a mail. @returns the path of its unsubscribe link. */
  async function sendOutreach(): Promise<string> {
    await sendMail(tenant.handle, bench.service.mail, outreach())
    const raw = bench.servers.smtp.accepted.at(-1)?.raw ?? ''
    expect(raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
    const [, url = ''] = /^List-Unsubscribe: <(\S+)>\r$/m.exec(raw.replace(/\r\n[ \t]/g, ' ')) ?? []
    expect(url).toMatch(/^https:\/\/cds\.example\.com\/base\/unsubscribe\/[A-Za-z0-9_-]{43}$/)
    expect(raw.replaceAll('=\r\n', '')).toContain(`Unsubscribe: ${url}`)
    return new URL(url).pathname.replace('/base', '')
  }
  const isUnsubscribed = async () => {
    const { body } = await tenant.call('GET', `/v1/contacts/${contactId}`)
    return body.contact.properties.unsubscribed
  }

  test('the link shows a page and changes nothing; its button suppresses the address', async () => {
    const path = await sendOutreach()
    const page = await call(bench.service, 'GET', path)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.body).toContain('<form method="post">')
    expect(page.body).not.toContain(ADDRESS)
    expect(await suppressionOf(tenant.handle, ADDRESS)).toBeNull()
    expect(await isUnsubscribed()).toBeUndefined()

    const done = await call(bench.service, 'POST', path, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: '',
    })
    expect([done.status, done.body]).toEqual([200, expect.stringContaining('Unsubscribed')])
    expect(await suppressionOf(tenant.handle, ADDRESS)).toMatchObject({ reason: 'unsubscribed' })
    expect(await isUnsubscribed()).toBe(true)
    await expect(sendMail(tenant.handle, bench.service.mail, outreach())).rejects.toMatchObject({
      code: 'recipient_suppressed',
    })
  })

  test('the link of a mail to a contact that was merged later unsubscribes the survivor, also after an unmerge', async () => {
    const path = await sendOutreach()
    const merged = contactId
    contactId = await tenant.contact('survivor@example.com')
    await tenant.call('POST', `/v1/contacts/${merged}/merge`, { into: contactId })
    const done = await call(bench.service, 'POST', path, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: '',
    })
    expect([done.status, await isUnsubscribed()]).toEqual([200, true])
    expect((await tenant.call('POST', `/v1/contacts/${merged}/unmerge`)).status).toBe(200)
    expect(await isUnsubscribed()).toBe(true)
    expect(await suppressionOf(tenant.handle, ADDRESS)).toMatchObject({ reason: 'unsubscribed' })
    const sends = await tenant.handle.db.selectFrom('mail_sends').select('contact_id').execute()
    expect(sends).toEqual([{ contact_id: merged }])
  })

  test.each([
    ['application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click'],
    ['multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--'],
    ['application/json', '{'],
  ])('a mail program unsubscribes with one POST of %s; repeating it changes nothing', async (type, body) => {
    const path = await sendOutreach()
    for (const _ of [1, 2]) {
      expect((await call(bench.service, 'POST', path, { headers: { 'content-type': type }, body })).status).toBe(200)
    }
    expect(await isUnsubscribed()).toBe(true)
    const { body: updates } = await tenant.call('GET', `/v1/contacts/events/${contactId}?include=system`)
    const events = updates.events.map(({ event }: { event: string }) => event)
    expect(events.filter((event: string) => event === 'contact_updated')).toHaveLength(1)
  })

  test('a link works for a year, even after its identity and contact are deleted', async () => {
    const path = await sendOutreach()
    await deleteIdentity(tenant.handle, sender.identityId)
    await tenant.call('DELETE', `/v1/contacts/${contactId}`)
    bench.pass(365 * DAY_MS)
    expect((await call(bench.service, 'POST', path)).status).toBe(200)
    expect(await suppressionOf(tenant.handle, ADDRESS)).toMatchObject({ reason: 'unsubscribed' })
    bench.pass(2 * DAY_MS)
    expect((await call(bench.service, 'GET', path)).status).toBe(404)
  })

  test('an invalid link shows a page that says so', async () => {
    const path = await sendOutreach()
    const cut = path.slice(0, -1)
    const changed = `${cut}${path.endsWith('A') ? 'B' : 'A'}`
    for (const wrong of [cut, changed, '/unsubscribe/x', `/unsubscribe/${'A'.repeat(43)}`, '/unsubscribe/%00%ff']) {
      for (const method of ['GET', 'POST']) {
        const { status, body } = await call(bench.service, method, wrong)
        expect([wrong, status < 500 && status >= 400]).toEqual([wrong, true])
        if (!wrong.includes('%')) expect([status, body]).toEqual([404, expect.stringContaining('does not work')])
      }
    }
    expect((await call(bench.service, 'DELETE', path)).status).toBe(405)
    expect(await suppressionOf(tenant.handle, ADDRESS)).toBeNull()
  })

  test('a body that is too large is refused', async () => {
    const path = await sendOutreach()
    const big = await call(bench.service, 'POST', path, {
      headers: { 'content-type': 'text/plain' },
      body: 'x'.repeat(64 * 1024),
    })
    expect(big.status).toBe(413)
  })
})
