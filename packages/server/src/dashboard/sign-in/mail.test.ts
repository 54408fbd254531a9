import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser, PASSWORD, signedIn } from '../../../test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'

interface Received {
  from: string
  to: string[]
  text: string
}

let server: SMTPServer
let service: TestService
let tenant: TestTenant
/** Resolves with each mail as it arrives. */
let arrives: (mail: Received) => void = () => {}
let refuses = false

beforeAll(async () => {
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, session, done) => {
      let text = ''
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      stream.on('end', () => {
        if (refuses) return done(new Error('no room'))
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom === false ? '' : mailFrom.address
        arrives({
          from,
          to: rcptTo.map(({ address }) => address),
          text: text.replace(/=\r\n/g, '').replace(/=3D/g, '='),
        })
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  service = await startTestService({
    CDS_SMTP_URL: `smtp://127.0.0.1:${port}`,
    CDS_MAIL_FROM: 'CDS <cds@example.com>',
    CDS_PUBLIC_URL: 'https://cdp.example.com',
  })
  tenant = await createTestTenant(service)
})
afterAll(async () => {
  await service.close()
  await new Promise<void>((resolve) => server.close(resolve))
})

const nextMail = () =>
  new Promise<Received>((resolve) => {
    arrives = resolve
  })

test('an invitation is mailed, and its link works', async () => {
  const owner = await signedIn(service, tenant.id, 'owner')
  const mail = nextMail()
  const { body } = await owner.call('POST', '/api/team', { email: 'guest@example.com', role: 'member' })
  expect(body.mailed).toBe(true)
  const { from, to, text } = await mail
  expect([from, to]).toEqual(['cds@example.com', ['guest@example.com']])
  const [, token] = /https:\/\/cdp\.example\.com\/invitation\/([\w-]+)/.exec(text) ?? []
  const seen = await new Browser(service).call('GET', `/api/invitations/${token}`)
  expect(seen.body).toMatchObject({ email: 'guest@example.com', role: 'member' })
})

test('a name with line breaks adds nothing to the mail', async () => {
  const owner = await signedIn(service, tenant.id, 'owner')
  const name = 'Eve\r\nBcc: all@example.com\r\n\r\nClick here'
  await service.stores.database.updateTable('users').set({ name }).where('id', '=', owner.userId).execute()
  const mail = nextMail()
  await owner.call('POST', '/api/team', { email: 'guest2@example.com', role: 'member' })
  const { to, text } = await mail
  expect(to).toEqual(['guest2@example.com'])
  expect(text).not.toMatch(/^Bcc:/m)
})

test('an invitation stands when the mail server refuses', async () => {
  const owner = await signedIn(service, tenant.id, 'owner')
  refuses = true
  const { status, body } = await owner.call('POST', '/api/team', { email: 'guest3@example.com', role: 'member' })
  refuses = false
  expect([status, body.mailed]).toEqual([201, false])
  expect(body.link).toMatch(/^https:\/\/cdp\.example\.com\/invitation\//)
})

test('a link for a new password is mailed to a person, and to nobody else', async () => {
  const person = await signedIn(service, tenant.id, 'viewer')
  const mail = nextMail()
  const browser = new Browser(service)
  expect((await browser.call('GET', '/api/sign-in-options')).body.password_reset).toBe('mail')
  await browser.call('POST', '/api/auth/request-password-reset', { email: 'nobody@example.com' })
  await browser.call('POST', '/api/auth/request-password-reset', { email: person.email })
  const { to, text } = await mail
  expect(to).toEqual([person.email])
  const [, token] = /https:\/\/cdp\.example\.com\/reset-password\?token=([\w-]+)/.exec(text) ?? []
  const reset = { token, newPassword: `${PASSWORD} again` }
  expect((await browser.call('POST', '/api/auth/reset-password', reset)).status).toBe(200)
  await new Browser(service).signIn(person.email, `${PASSWORD} again`)
  const stored = await service.stores.database.selectFrom('user_verifications').select('identifier').execute()
  expect(JSON.stringify(stored)).not.toContain(token)
})
