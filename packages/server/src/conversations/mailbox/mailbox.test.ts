import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasDovecot, type Mailbox } from '../../../test/dovecot.ts'
import { type MailServers, startMailServers } from '../../../test/mail-servers.ts'
import { awkwardMail, largeMail, plainMail } from '../../../test/mails.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { removeEmailAccount, setEmailAccount } from '../../identities/email-accounts.ts'
import { emailPlace } from '../../identities/email-secrets.ts'
import { createIdentity } from '../../identities/identities.ts'
import { suppressionOf } from '../../identities/suppressions.ts'
import { newId } from '../../platform/ids.ts'
import { createLog } from '../../platform/log.ts'
import { DAY_MS } from '../../platform/time.ts'
import type { MailboxDescription } from './mailboxes.ts'
import { readPosition } from './position.ts'
import { startMailboxReaders } from './readers.ts'
import { syncFolder } from './sync-folder.ts'
import { watchMailbox } from './watch-mailbox.ts'

const ACTOR = { kind: 'service' } as const
/** A mail from us to Ada. */
const sentMail = (id: string) =>
  plainMail(id).replace(
    'From: Ada <ada@example.com>\r\nTo: sales@ours.example',
    'From: sales@ours.example\r\nTo: ada@example.com',
  )
const WITHIN = { interval: 100 }

describe.skipIf(!hasDovecot)('a mailbox', () => {
  let servers: MailServers
  let service: TestService
  let tenant: TestTenant
  let mailbox: Mailbox
  let ada: string
  let identityId: string
  let mailboxes = 0

  beforeAll(async () => {
    servers = await startMailServers()
    service = await startTestService(
      { CDS_MAIL_POLL_SECONDS: '1', CDS_MAIL_ALLOW_PRIVATE: 'on', CDS_MAIL_MAILBOXES_MAX: '2' },
      { outbound: { ca: servers.certificate.certificate } },
    )
  })
  beforeEach(async () => {
    tenant = await createTestTenant(service)
    ada = await tenant.contact('ada@example.com')
    mailbox = await servers.addMailbox(`sales${++mailboxes}@ours.example`)
    identityId = await newIdentity(tenant)
  })
  afterEach(async () => {
    await removeEmailAccount(tenant.handle, identityId).catch(() => {})
  })
  afterAll(async () => {
    await service?.close()
    await servers?.close()
  })

  async function newIdentity({ handle }: TestTenant): Promise<string> {
    const person = { firstName: 'Sam', lastName: 'Sales', role: 'sales' }
    return (await createIdentity(handle, person, new Date())).identity_id
  }

  /** Sets an identity's account, so that the service reads its mailbox. */
  async function connect(owner = tenant, identity = identityId): Promise<void> {
    const login = { user: mailbox.user, password: mailbox.password }
    const server = { host: 'localhost', security: 'tls', login } as const
    const settings = {
      address: 'sales@ours.example',
      smtp: { ...server, port: servers.smtp.tlsPort },
      imap: { ...server, port: servers.imap.tlsPort },
    }
    await setEmailAccount(owner.handle, service.mail, ACTOR, identity, settings, new Date())
  }

  async function threads(query = 'include_messages=true&limit=100&messages_per_thread=50') {
    const { body } = await tenant.call('GET', `/v1/contacts/${ada}/conversations?${query}`)
    return body.conversations as { subject: string; messages: StoredMessage[] }[]
  }
  const messages = async () => (await threads()).flatMap((thread) => thread.messages)
  const ids = async () => (await messages()).map(({ message_id }) => message_id).sort()
  const described = async (owner = tenant): Promise<MailboxDescription[]> =>
    (await owner.call('GET', '/v1/mailboxes')).body.mailboxes
  const description = async () => (await described())[0]
  const reread = (identity: string) => tenant.call('POST', `/v1/mailboxes/${identity}/reread`)
  const folderOf = (role: 'inbox' | 'sent') =>
    tenant.handle.db.selectFrom('mailbox_folders').selectAll().where('role', '=', role).executeTakeFirstOrThrow()
  const eventNames = async () => {
    const { body } = await tenant.call('GET', `/v1/contacts/events/${ada}`)
    return body.events.map(({ event }: { event: string }) => event).sort()
  }

  /** Adds a mailbox that the service never reads. @returns what the test needs to read it. */
  async function setUnread() {
    const at = { created_at: new Date(), updated_at: new Date() }
    const account = { address: mailbox.user, settings: '{"imap":{}}', sealed: 'x', daily_limit: 1, spacing_seconds: 1 }
    const never = { state: 'waiting', next_attempt_at: new Date('2200-01-01') }
    await tenant.handle.transaction(async ({ db }) => {
      const identity = { identity_id: identityId }
      await db
        .insertInto('email_accounts')
        .values({ ...identity, ...account, ...at })
        .execute()
      await db
        .insertInto('mailboxes')
        .values({ ...identity, ...never })
        .execute()
    })
    const folder = { identityId, role: 'inbox', path: 'INBOX' } as const
    return {
      folder,
      dependencies: { writing: service.writing, firstSyncDays: 90, signal: new AbortController().signal },
    }
  }

  interface StoredMessage {
    message_id: string
    direction: string
    text: string
    html?: string
    attachments: { filename: string; bytes: number }[]
  }

  test('is read completely, and then as mail arrives and is deleted', async () => {
    const offer = sentMail('offer@ours.example')
    await servers.imap.append(mailbox, offer, { folder: 'Sent' })
    await servers.imap.deliver(
      mailbox,
      plainMail('first@example.com', { headers: 'References: <offer@ours.example>\r\n' }),
    )
    await servers.imap.deliver(mailbox, plainMail('stranger@example.com').replace('ada@', 'stranger@'))
    await connect()
    await expect.poll(ids, WITHIN).toEqual(['first@example.com', 'offer@ours.example'])
    const [thread] = await threads()
    expect(thread?.messages.map(({ direction }) => direction).sort()).toEqual(['inbound', 'outbound'])
    // Events become readable after messages.
    await expect.poll(eventNames, WITHIN).toEqual(['email_received', 'email_sent'])
    await expect.poll(async () => (await description())?.state, WITHIN).toBe('watching')
    expect(await description()).toMatchObject({
      identity_id: identityId,
      error: null,
      next_attempt_at: null,
      connected_at: expect.any(String),
      synced_at: expect.any(String),
      folders: [
        { role: 'inbox', path: 'INBOX' },
        { role: 'sent', path: 'Sent' },
      ],
      skipped: 0,
    })
    await servers.imap.deliver(mailbox, plainMail('second@example.com'))
    await expect.poll(ids, WITHIN).toContain('second@example.com')
    await servers.imap.append(mailbox, sentMail('later@ours.example'), { folder: 'Sent' })
    await expect.poll(ids, WITHIN).toContain('later@ours.example')
    const stored = await tenant.handle.db.selectFrom('conversation_messages').select('message_id').execute()
    expect(stored).toHaveLength(4)
  })

  test('can contain malformed mails, and one that cannot be parsed does not block the others', async () => {
    const names = [
      'koi8-r',
      'duplicate-message-id',
      'too-deep',
      'garbage',
      'nothing',
      'iso-2022-jp',
      'broken-base64',
      'no-message-id',
      '200-references',
      'nested-multipart',
      'winmail',
      'calendar',
      'calendar-only',
      'hostile-html',
      'emoji-subject',
      'header-injection',
      'bare-newlines',
      'groups',
      'out-of-office',
      'no-date',
      'unknown-charset',
      'forwarded',
    ]
    for (const name of names) await servers.imap.deliver(mailbox, awkwardMail(name))
    await servers.imap.deliver(mailbox, plainMail('last@example.com'))
    await connect()
    await expect.poll(ids, WITHIN).toContain('last@example.com')
    await expect.poll(async () => (await description())?.state, WITHIN).toBe('watching')
    expect((await description())?.skipped).toBe(1)
    const [skipped] = await tenant.handle.db.selectFrom('mailbox_skipped').select(['role', 'reason']).execute()
    expect(skipped).toMatchObject({ role: 'inbox', reason: expect.stringMatching(/nesting/i) })
    // All from Ada, except one that is nested too deep, one with a duplicate id, and two that involve no contact.
    expect(await ids()).toHaveLength(names.length - 4 + 1)
    const all = await messages()
    const html = all.find(({ message_id }) => message_id === 'html@example.com')?.html ?? ''
    expect(html).toContain('<b>there</b>')
    expect(html).toContain('data-src="https://spy.example/pixel.gif"')
    expect(html).not.toMatch(/script|svg|style|onload|form|\ssrc=/)
    expect((await threads()).map(({ subject }) => subject)).toContain('Hello Bcc: everybody@example.com body')
  })

  test('provides the texts and a list of attachments of a 30 MB mail', async () => {
    await servers.imap.deliver(mailbox, largeMail('large@example.com', 30 * 1024 * 1024))
    await connect()
    await expect.poll(ids, WITHIN).toEqual(['large@example.com'])
    const [message] = await messages()
    expect(message).toMatchObject({ text: 'Grüße', html: '<p>Hi</p>', attachments: [{ filename: 'large.zip' }] })
    expect(message?.attachments[0]?.bytes).toBeGreaterThan(29 * 1024 * 1024)
  })

  test('is read again without duplicates if its server renumbers the mails', async () => {
    for (const id of ['one@x', 'two@x', 'three@x']) await servers.imap.append(mailbox, sentMail(id), { folder: 'Sent' })
    await connect()
    await expect.poll(ids, WITHIN).toHaveLength(3)
    await expect.poll(async () => (await description())?.state, WITHIN).toBe('watching')
    const before = await folderOf('sent')
    await servers.imap.asOwner(mailbox, async (client) => {
      await client.mailboxDelete('Sent')
      await client.mailboxCreate('Sent')
    })
    for (const id of ['two@x', 'four@x']) await servers.imap.append(mailbox, sentMail(id), { folder: 'Sent' })
    await expect.poll(ids, WITHIN).toEqual(['four@x', 'one@x', 'three@x', 'two@x'])
    // The position is stored after the mails.
    await expect.poll(async () => (await folderOf('sent')).uid_validity, WITHIN).not.toBe(before.uid_validity)
    await expect.poll(eventNames, WITHIN).toEqual(Array(4).fill('email_sent'))
  })

  test('is read as many days back as configured', async () => {
    const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)
    await servers.imap.append(mailbox, plainMail('old@example.com'), { receivedAt: daysAgo(100) })
    await servers.imap.append(mailbox, plainMail('young@example.com'), { receivedAt: daysAgo(80) })
    await servers.imap.append(mailbox, plainMail('moved@example.com'), { receivedAt: daysAgo(100) })
    await connect()
    await expect.poll(ids, WITHIN).toEqual(['young@example.com'])
    await servers.imap.deliver(mailbox, plainMail('new@example.com'))
    await expect.poll(ids, WITHIN).toEqual(['new@example.com', 'young@example.com'])
  })

  test('can be read again for a new contact', async () => {
    await servers.imap.deliver(mailbox, plainMail('bob@example.com').replace('ada@', 'bob@'))
    await servers.imap.deliver(mailbox, plainMail('ada@example.com'))
    await connect()
    await expect.poll(ids, WITHIN).toEqual(['ada@example.com'])
    // The first read is complete, and its position is stored.
    await expect.poll(async () => (await description())?.state, WITHIN).toBe('watching')
    const bob = await tenant.contact('bob@example.com')
    const ofBob = async () => (await tenant.call('GET', `/v1/contacts/${bob}/conversations`)).body.total_items
    expect(await ofBob()).toBe(0)
    expect((await reread(identityId)).status).toBe(202)
    await expect.poll(ofBob, WITHIN).toBe(1)
    expect(await ids()).toEqual(['ada@example.com'])
    expect((await reread(newId())).status).toBe(404)
    const one = await tenant.call('GET', `/v1/mailboxes/${identityId}`)
    expect(one.body.mailbox).toMatchObject({ identity_id: identityId, skipped: 0, folders: expect.any(Array) })
    const unknown = await tenant.call('GET', `/v1/mailboxes/${newId()}`)
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found'])
  })

  test('is read again from the start if that is requested during a read', async () => {
    const { folder, dependencies } = await setUnread()
    await servers.imap.deliver(mailbox, plainMail('one@example.com'))
    await servers.imap.asOwner(mailbox, async (client) => {
      await syncFolder(tenant.handle, dependencies, client, folder)
      expect(await readPosition(tenant.handle, folder)).toMatchObject({ lastUid: 1 })
      await servers.imap.deliver(mailbox, plainMail('two@example.com'))
      const search = client.search.bind(client)
      client.search = async (...asked) => {
        await reread(identityId)
        return search(...asked)
      }
      await syncFolder(tenant.handle, dependencies, client, folder)
    })
    expect(await ids()).toEqual(['one@example.com', 'two@example.com'])
    expect(await readPosition(tenant.handle, folder)).toBeNull()
  })

  test('on a server with CONDSTORE is searched only if the mod-sequence has changed', async () => {
    const { folder, dependencies } = await setUnread()
    await servers.imap.deliver(mailbox, plainMail('one@example.com'))
    await servers.imap.asOwner(mailbox, async (client) => {
      let searches = 0
      const search = client.search.bind(client)
      client.search = (...asked) => {
        searches++
        return search(...asked)
      }
      const sync = () => syncFolder(tenant.handle, dependencies, client, folder)
      await sync()
      const first = await readPosition(tenant.handle, folder)
      expect(first?.modSequence).toMatch(/^[0-9]+$/)
      await sync()
      expect(searches).toBe(1)
      // A mail was marked as read: something has changed, but no mail is new.
      await client.mailboxOpen('INBOX')
      expect(await client.messageFlagsAdd('1', ['\\Seen'])).toBe(true)
      await client.mailboxClose()
      await sync()
      expect(searches).toBe(2)
      expect((await readPosition(tenant.handle, folder))?.modSequence).not.toBe(first?.modSequence)
      await sync()
      expect(searches).toBe(2)
    })
    expect(await ids()).toEqual(['one@example.com'])
  })

  test('announces a new mail (IDLE) long before the next poll', async () => {
    await setUnread()
    const ended = new AbortController()
    const { signal } = ended
    const dependencies = { ...service.mail, writing: service.writing, firstSyncDays: 90, pollSeconds: 600, signal }
    const login = { user: mailbox.user, password: mailbox.password }
    const imap = { host: 'localhost', port: servers.imap.tlsPort, security: 'tls', login } as const
    const account = { identityId, address: mailbox.user, name: 'Sam Sales', smtp: imap, imap, renewal: null }
    const watched = Promise.withResolvers<void>()
    const onState = async (state: string) => void (state === 'watching' && watched.resolve())
    const limits = { dailyLimit: 1, spacingSeconds: 1 }
    const watching = watchMailbox(tenant.handle, dependencies, { ...account, ...limits }, onState)
    await Promise.race([watched.promise, watching])
    await servers.imap.deliver(mailbox, plainMail('idle@example.com'))
    await expect.poll(ids, WITHIN).toEqual(['idle@example.com'])
    ended.abort()
    await watching
  })

  test('is read again when its server is back', async () => {
    await connect()
    await expect.poll(async () => (await description())?.state, WITHIN).toBe('watching')
    await servers.imap.restart(2_000)
    await servers.imap.deliver(mailbox, plainMail('meanwhile@example.com'))
    await expect.poll(ids, WITHIN).toEqual(['meanwhile@example.com'])
    await expect.poll(async () => (await description())?.error, WITHIN).toBeNull()
  })

  test('reports a rejected login without the password', async () => {
    await connect()
    await expect.poll(async () => (await description())?.state, WITHIN).toBe('watching')
    const secret = 'wrong-and-secret'
    const sealed = service.secrets.seal(
      JSON.stringify({ smtp: secret, imap: secret }),
      emailPlace(tenant.id, identityId),
    )
    await tenant.handle.db.updateTable('email_accounts').set({ sealed, updated_at: new Date() }).execute()
    await expect.poll(async () => (await description())?.state, WITHIN).toBe('failed')
    const { error, next_attempt_at } = (await description()) ?? {}
    expect(error).toMatch(/auth/i)
    expect(Date.parse(next_attempt_at ?? '')).toBeGreaterThan(Date.now() + 30_000)
    expect(error + service.logged.join()).not.toContain(secret)
    // After the account is set again, it is tried immediately.
    await connect()
    await expect.poll(async () => (await description())?.state, WITHIN).toBe('watching')
  })

  test('is no longer read after its account is removed', async () => {
    await connect()
    await expect.poll(async () => (await description())?.state, WITHIN).toBe('watching')
    await removeEmailAccount(tenant.handle, identityId)
    expect(await description()).toBeUndefined()
    await expect
      .poll(async () => (await servers.imap.log()).split(`imap(${mailbox.user})`).at(-1), WITHIN)
      .toMatch(/clos|logged out|disconnect/i)
    await servers.imap.deliver(mailbox, plainMail('late@example.com'))
    // The service has looked for mailboxes again: it reads another one.
    mailbox = await servers.addMailbox(`sales${++mailboxes}@ours.example`)
    const other = await newIdentity(tenant)
    await connect(tenant, other)
    await servers.imap.deliver(mailbox, plainMail('other@example.com'))
    await expect.poll(ids, WITHIN).toEqual(['other@example.com'])
    await removeEmailAccount(tenant.handle, other)
  })

  test('is read by one process at a time; another continues when that one stops', async () => {
    const log = createLog('silent')
    const shared = { ...service, ...service.mail, firstSyncDays: 90, pollSeconds: 1, mailboxesMax: 2, log }
    const readers = [startMailboxReaders(shared), startMailboxReaders(shared)]
    await connect()
    await expect.poll(async () => (await description())?.state, WITHIN).toBe('watching')
    for (let n = 0; n < 5; n++) {
      for (const each of readers) each.check()
      await servers.imap.deliver(mailbox, plainMail(`m${n}@example.com`))
    }
    await expect.poll(ids, WITHIN).toHaveLength(5)
    const logins = (await servers.imap.log())
      .split('\n')
      .filter((line) => /Login: user=/.test(line) && line.includes(`<${mailbox.user}>`))
    // Setting the account logs in too.
    const { claim } = await tenant.handle.db.selectFrom('mailboxes').select('claim').executeTakeFirstOrThrow()
    await Promise.all(readers.map((each) => each.stop()))
    await servers.imap.deliver(mailbox, plainMail('after@example.com'))
    await expect.poll(ids, WITHIN).toContain('after@example.com')
    expect(claim).not.toBeNull()
    expect(logins.length).toBeLessThanOrEqual(3)
    await expect.poll(eventNames, WITHIN).toEqual(Array(6).fill('email_received'))
  })

  test('is released for another tenant if its tenant has more than its share', async () => {
    const other = await createTestTenant(service)
    const owned = [identityId, await newIdentity(tenant), await newIdentity(tenant)]
    const others = await newIdentity(other)
    const watched = async (owner: TestTenant) =>
      (await described(owner)).filter(({ state }) => state === 'watching').length
    for (const identity of owned) await connect(tenant, identity)
    await expect.poll(() => watched(tenant), WITHIN).toBe(2)
    await connect(other, others)
    await expect.poll(() => watched(other), WITHIN).toBe(1)
    await expect.poll(() => watched(tenant), WITHIN).toBe(1)
    // Freed capacity goes to waiting mailboxes.
    await removeEmailAccount(other.handle, others)
    await expect.poll(() => watched(tenant), WITHIN).toBe(2)
    for (const identity of owned.slice(1)) await removeEmailAccount(tenant.handle, identity)
  })

  test('suppresses an address that bounces permanently, and ignores forged reports', async () => {
    const victim = await tenant.contact('victim@example.com')
    expect(victim).toBeDefined()
    for (const name of ['bounce-temporary', 'bounce-forged', 'bounce-of-another'])
      await servers.imap.deliver(mailbox, awkwardMail(name))
    // A forged mail that claims to be from us.
    await servers.imap.deliver(
      mailbox,
      plainMail('never-sent@ours.example')
        .replace('Ada <ada@example.com>', 'sales@ours.example')
        .replace('To: sales@ours.example', 'To: ada@example.com'),
    )
    await connect()
    await expect.poll(async () => (await description())?.state, WITHIN).toBe('watching')
    await servers.imap.deliver(mailbox, awkwardMail('bounce-forged'))
    await servers.imap.deliver(mailbox, plainMail('marker@example.com'))
    await expect.poll(ids, WITHIN).toContain('marker@example.com')
    expect(await suppressionOf(tenant.handle, 'ada@example.com')).toBeNull()
    // A bounce may be read before its mail: programs send a mail first and save it to the Sent folder afterwards.
    const before = Number((await folderOf('inbox')).last_uid)
    await servers.imap.deliver(mailbox, awkwardMail('bounce'))
    await expect.poll(async () => Number((await folderOf('inbox')).last_uid), WITHIN).toBeGreaterThan(before)
    const { synced_at: readAt } = await folderOf('sent')
    await expect.poll(async () => (await folderOf('sent')).synced_at, WITHIN).not.toEqual(readAt)
    const offer = sentMail('offer@ours.example')
    await servers.imap.append(mailbox, offer, { folder: 'Sent' })
    await expect
      .poll(() => suppressionOf(tenant.handle, 'ada@example.com'), WITHIN)
      .toMatchObject({
        reason: 'bounced',
        details: '550 5.1.1 <ada@example.com>: no such user here',
      })
    expect(await suppressionOf(tenant.handle, 'victim@example.com')).toBeNull()
  })

  test('suppresses an address that complains', async () => {
    const offer = sentMail('offer@ours.example')
    await servers.imap.append(mailbox, offer, { folder: 'Sent' })
    await servers.imap.deliver(mailbox, awkwardMail('complaint'))
    await connect()
    await expect
      .poll(() => suppressionOf(tenant.handle, 'ada@example.com'), WITHIN)
      .toMatchObject({ reason: 'complained' })
  })
})
