import { setEmailAccount } from '../src/identities/email-accounts.ts'
import type { EmailAccountSettings } from '../src/identities/email-settings.ts'
import { createIdentity } from '../src/identities/identities.ts'
import type { OutgoingMail } from '../src/identities/mail/outgoing.ts'
import type { Actor } from '../src/operations/audit.ts'
import { newId } from '../src/platform/ids.ts'
import type { Mailbox } from './dovecot.ts'
import { type MailServers, startMailServers } from './mail-servers.ts'
import { startTestService, type TestService, type TestTenant } from './service.ts'

export const TESTER: Actor = { kind: 'service' }

/** A service whose clock can be moved, beside a mail provider that it reaches. */
export interface MailBench {
  service: TestService
  servers: MailServers
  /** Advances the service's clock. */
  pass(milliseconds: number): void
  now(): Date
  /** A new identity with a mailbox at the provider. */
  addSender(tenant: TestTenant, settings?: Partial<EmailAccountSettings>): Promise<Sender>
  close(): Promise<void>
}

export interface Sender {
  identityId: string
  mailbox: Mailbox
}

let senders = 0

/**
 * Starts the service and the provider.
 * @param providerUrls where OAuth providers are, by name: the mailboxes of each are at the mail provider.
 */
export async function startMailBench(
  environment: Record<string, string> = {},
  providerUrls: Record<string, string> = {},
): Promise<MailBench> {
  const servers = await startMailServers()
  let shift = 0
  const now = () => new Date(Date.now() + shift)
  const outbound = { ca: servers.certificate.certificate }
  const smtp = { host: 'localhost', port: servers.smtp.port, security: 'starttls' } as const
  const imap = { host: 'localhost', port: servers.imap.tlsPort, security: 'tls' } as const
  const mailServers = Object.fromEntries(Object.keys(providerUrls).map((name) => [name, { smtp, imap }]))
  const service = await startTestService(
    { CDS_MAIL_ALLOW_PRIVATE: '1', ...environment },
    { clock: now, outbound, providerUrls, mailServers },
  )
  return {
    service,
    servers,
    now,
    pass: (milliseconds) => {
      shift += milliseconds
    },
    addSender: async (tenant, settings = {}) => {
      const mailbox = await servers.addMailbox(`sender${++senders}@mail.example`)
      const names = { firstName: 'Ada', lastName: 'Lovelace', role: 'sales' }
      const { identity_id: identityId } = await createIdentity(tenant.handle, names, now())
      const wanted = { ...settingsOf(servers, mailbox), spacingSeconds: 0, ...settings }
      await setEmailAccount(tenant.handle, service.mail, TESTER, identityId, wanted, now())
      return { identityId, mailbox }
    },
    close: async () => {
      await service.close()
      await servers.close()
    },
  }
}

/** The settings of a mailbox. */
export function settingsOf({ smtp, imap }: MailServers, { user, password }: Mailbox): EmailAccountSettings {
  const login = { user, password }
  return {
    address: user,
    smtp: { host: 'localhost', port: smtp.port, security: 'starttls', login },
    imap: { host: 'localhost', port: imap.tlsPort, security: 'tls', login },
  }
}

/** A mail from an identity to a contact. */
export function mailTo(
  { identityId }: Pick<Sender, 'identityId'>,
  contactId: string,
  to: string,
  more: Partial<OutgoingMail> = {},
): OutgoingMail {
  const messageId = `${newId()}@mail.example`
  return { identityId, contactId, to, subject: 'Hello', markdown: 'Hi', messageId, isOutreach: false, ...more }
}
