import { ImapFlow } from 'imapflow'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasDovecot } from './dovecot.ts'
import { type MailServers, startMailServers } from './mail-servers.ts'

/** Tests the mail servers that other tests rely on. */
describe.skipIf(!hasDovecot)('the mail servers of the tests', () => {
  let servers: MailServers

  beforeAll(async () => {
    servers = await startMailServers()
  })
  afterAll(() => servers?.close())

  test('store appended and delivered mails, and let the owner read them by password and by token', async () => {
    const mailbox = await servers.addMailbox('ada@mail.example')
    const uid = await servers.imap.append(mailbox, 'Subject: appended\r\n\r\nHello', { folder: 'Sent' })
    await servers.imap.deliver(mailbox, 'Subject: delivered\nno header line\n\n\0Hello')
    expect(uid).toBe(1)
    for (const auth of [
      { user: mailbox.user, pass: mailbox.password },
      { user: mailbox.user, accessToken: mailbox.accessToken },
    ]) {
      const tls = { ca: servers.certificate.certificate, servername: 'mail.example' }
      const client = new ImapFlow({
        host: '127.0.0.1',
        port: servers.imap.tlsPort,
        secure: true,
        auth,
        tls,
        logger: false,
      })
      await client.connect()
      expect(await client.status('INBOX', { messages: true })).toMatchObject({ messages: 1 })
      expect((await client.list()).find(({ specialUse }) => specialUse === '\\Sent')?.path).toBe('Sent')
      await client.logout()
    }
  })

  test('accept a mail over STARTTLS and TLS, reject one and drop a connection if a test asks for it', async () => {
    const mailbox = await servers.addMailbox('bob@mail.example')
    const { smtp, certificate } = servers
    const mail = { from: 'bob@mail.example', to: 'eve@example.com', subject: 'x', text: 'y' }
    const send = (port: number, secure: boolean) =>
      createTransport({
        host: 'localhost',
        port,
        secure,
        requireTLS: true,
        auth: { user: mailbox.user, pass: mailbox.password },
        tls: { ca: certificate.certificate },
      }).sendMail(mail)
    await send(smtp.port, false)
    await send(smtp.tlsPort, true)
    expect(smtp.accepted).toMatchObject([
      { from: 'bob@mail.example', to: ['eve@example.com'], user: 'bob@mail.example', secure: true },
      { secure: true },
    ])
    smtp.onRecipient = () => ({ code: 550, text: '5.1.1 no such user' })
    await expect(send(smtp.port, false)).rejects.toMatchObject({ responseCode: 550 })
    smtp.onRecipient = () => null
    smtp.onMail = () => 'drop'
    await expect(send(smtp.port, false)).rejects.toMatchObject({ code: 'ECONNECTION' })
    expect(smtp.accepted).toHaveLength(3)
  })
})
