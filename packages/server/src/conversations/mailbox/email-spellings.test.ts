import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasDovecot, type Mailbox } from '../../../test/dovecot.ts'
import { type MailServers, startMailServers } from '../../../test/mail-servers.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { setEmailAccount } from '../../identities/email-accounts.ts'
import { createIdentity } from '../../identities/identities.ts'
import { newId } from '../../platform/ids.ts'

/* A mail belongs to the contact of its addresses, and a report silences them, in whatever spelling a header has them. */

const STORED = 'ren\u00e9@xn--bcher-kva.example'
const NFC = 'ren\u00e9@b\u00fccher.example'
const NFD = 'rene\u0301@bu\u0308cher.example'
const OWN = 'sales@ours.example'
const WITHIN = { interval: 100, timeout: 30_000 }

const base64 = (text: string) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`
const quoted = (text: string) =>
  `=?utf-8?Q?${[...Buffer.from(text)].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')}?=`

/** Values of an address header, as mail programs write them. RFC 6532 allows UTF-8 in headers; RFC 2047 encodes it. */
const HEADERS: [string, string][] = [
  ['in punycode', `<${STORED}>`],
  ['in UTF-8', `René Müller <${NFC}>`],
  ['in UTF-8, in NFD', `"Müller, René" <${NFD}>`],
  ['without a name', NFD],
  ['in capitals', `<RENÉ@BÜCHER.Example>`],
  ['with invisible characters', `<\u200bren\u00ade\u0301@bücher.example\u200b>`],
  ['with other dots', `<rené@bücher。example>`],
  ['in full width', `<rené@ｂücher．example>`],
  ['after an encoded name', `${base64('René Müller')} <${NFC}>`],
  ['after a name that is an address', `"${NFC}" <${STORED}>`],
  ['in an encoded word', base64(NFC)],
  ['in an encoded word with the name', quoted(`René <${NFD}>`)],
  ['in encoded parts', `<${quoted('ren\u00e9')}@${base64('b\u00fccher.example')}>`],
  ['in a group', `Customers: Ann <ann@example.com>, René <${NFC}>;`],
]

describe.skipIf(!hasDovecot)('in a mailbox', () => {
  let servers: MailServers
  let service: TestService
  let tenant: TestTenant
  let mailbox: Mailbox
  let rene: string
  let mailboxes = 0

  beforeAll(async () => {
    servers = await startMailServers()
    service = await startTestService(
      { CDS_MAIL_POLL_SECONDS: '1', CDS_MAIL_ALLOW_PRIVATE: 'on', CDS_MAIL_MAILBOXES_MAX: '100' },
      { outbound: { ca: servers.certificate.certificate } },
    )
  })
  beforeEach(async () => {
    tenant = await createTestTenant(service)
    rene = await tenant.contact(NFC)
    mailbox = await servers.addMailbox(`spelled${++mailboxes}@ours.example`)
  })
  afterAll(async () => {
    await service?.close()
    await servers?.close()
  })

  async function connect(): Promise<void> {
    const person = { firstName: 'Sam', lastName: 'Sales', role: 'sales' }
    const { identity_id } = await createIdentity(tenant.handle, person, new Date())
    const login = { user: mailbox.user, password: mailbox.password }
    const server = { host: 'localhost', security: 'tls', login } as const
    const settings = {
      address: OWN,
      smtp: { ...server, port: servers.smtp.tlsPort },
      imap: { ...server, port: servers.imap.tlsPort },
    }
    await setEmailAccount(tenant.handle, service.mail, { kind: 'service' }, identity_id, settings, new Date())
  }

  const mail = (id: string, from: string, to: string, more = '') =>
    `From: ${from}\r\nTo: ${to}\r\n${more}Subject: ${id}\r\nMessage-ID: <${id}@example.com>\r\n\r\nHello\r\n`
  const messageIds = async () => {
    const { body } = await tenant.call(
      'GET',
      `/v1/contacts/${rene}/conversations?include_messages=true&limit=100&messages_per_thread=50`,
    )
    const threads = body.conversations as { messages: { message_id: string }[] }[]
    return threads.flatMap(({ messages }) => messages.map(({ message_id }) => message_id)).sort()
  }

  test.each(HEADERS)('an address %s is that of the contact, as From, To and Cc', async (how, header) => {
    const expected = ['cc@example.com', 'to@example.com']
    // A group has no sender.
    if (how !== 'in a group') {
      await servers.imap.deliver(mailbox, mail('from', header, OWN))
      expected.splice(1, 0, 'from@example.com')
    }
    await servers.imap.append(mailbox, mail('to', OWN, header), { folder: 'Sent' })
    await servers.imap.append(mailbox, mail('cc', OWN, 'ann@example.com', `Cc: ${header}\r\n`), { folder: 'Sent' })
    await connect()
    await expect.poll(messageIds, WITHIN).toEqual(expected)
    expect((await tenant.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(1)
  })

  /** A report about a mail to the contact. */
  function report(kind: 'delivery-status' | 'global-delivery-status', returned: string, fields: string): string {
    return `From: MAILER-DAEMON@mx.example.com\r\nTo: ${OWN}\r\nSubject: Undelivered\r\nMessage-ID: <${newId()}@mx.example.com>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/report; report-type=${kind}; boundary=r\r\n\r\n--r\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n--r\r\nContent-Type: message/${kind}\r\nContent-Transfer-Encoding: 8bit\r\n\r\nReporting-MTA: dns; mx.example.com\r\n\r\n${fields}\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n--r\r\nContent-Type: ${returned}\r\nContent-Transfer-Encoding: 8bit\r\n\r\nFrom: ${OWN}\r\nTo: ${NFC}\r\nSubject: Offer\r\nMessage-ID: <offer@example.com>\r\n\r\n--r--\r\n`
  }

  test.each([
    ['in punycode', report('delivery-status', 'message/rfc822', `Final-Recipient: rfc822; ${STORED}`)],
    ['in UTF-8', report('delivery-status', 'text/rfc822-headers', `Final-Recipient: rfc822;${NFD}`)],
    [
      'of an internationalized report (RFC 6533)',
      report('global-delivery-status', 'message/global', `Final-Recipient: utf-8; ${NFC}`),
    ],
    [
      'of one with headers alone',
      report('global-delivery-status', 'message/global-headers', `Final-Recipient: utf-8; ${NFD}`),
    ],
    [
      'of one in ASCII',
      report('delivery-status', 'message/global-headers', 'Final-Recipient: utf-8; ren\\x{E9}@b\\x{fc}cher.example'),
    ],
  ])('a bounce of an address %s silences every spelling', async (_how, bounce) => {
    await servers.imap.append(mailbox, mail('offer', OWN, `René <${NFD}>`), { folder: 'Sent' })
    await servers.imap.deliver(mailbox, bounce)
    await connect()
    for (const spelling of [STORED, NFC, NFD, 'RENÉ@BÜCHER.example', '\u200brené@bücher。example']) {
      await expect
        .poll(async () => {
          const { body } = await tenant.call('GET', `/v1/suppressions/${encodeURIComponent(spelling)}`)
          return [body.suppression?.address, body.suppression?.reason]
        }, WITHIN)
        .toEqual([STORED, 'bounced'])
    }
  })
})
