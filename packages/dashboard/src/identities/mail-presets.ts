import type { EmailAccountInput } from '../api/identities.ts'

type Server = Omit<EmailAccountInput['smtp'], 'user'>

export interface MailPreset {
  value: string
  label: string
  smtp: Server
  imap: Server
  /** What the provider requires for a login. */
  note: string
}

const imap = (host: string): Server => ({ host, port: 993, security: 'tls' })
const starttls = (host: string): Server => ({ host, port: 587, security: 'starttls' })
const tls = (host: string): Server => ({ host, port: 465, security: 'tls' })

/** The servers of common providers. */
export const MAIL_PRESETS: MailPreset[] = [
  {
    value: 'google',
    label: 'Gmail or Google Workspace',
    smtp: starttls('smtp.gmail.com'),
    imap: imap('imap.gmail.com'),
    note: 'Requires an app password: turn on two-step verification, then create one in the account settings.',
  },
  {
    value: 'microsoft',
    label: 'Outlook or Microsoft 365',
    smtp: starttls('smtp.office365.com'),
    imap: imap('outlook.office365.com'),
    note: 'An administrator must allow SMTP and IMAP with a password for this mailbox; many organisations do not.',
  },
  {
    value: 'icloud',
    label: 'iCloud Mail',
    smtp: starttls('smtp.mail.me.com'),
    imap: imap('imap.mail.me.com'),
    note: 'Requires an app-specific password for the Apple account.',
  },
  {
    value: 'yahoo',
    label: 'Yahoo Mail',
    smtp: tls('smtp.mail.yahoo.com'),
    imap: imap('imap.mail.yahoo.com'),
    note: 'Requires an app password for the account.',
  },
  {
    value: 'fastmail',
    label: 'Fastmail',
    smtp: tls('smtp.fastmail.com'),
    imap: imap('imap.fastmail.com'),
    note: 'Requires an app password with access to Mail.',
  },
  {
    value: 'zoho',
    label: 'Zoho Mail',
    smtp: tls('smtp.zoho.com'),
    imap: imap('imap.zoho.com'),
    note: 'Turn on IMAP access in its settings first.',
  },
  {
    value: 'gmx',
    label: 'GMX',
    smtp: starttls('mail.gmx.net'),
    imap: imap('imap.gmx.net'),
    note: 'Turn on access by POP3 and IMAP in its settings first.',
  },
]
