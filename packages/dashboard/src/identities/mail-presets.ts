import type { SetEmailAccountInput } from '../api/types.ts'
import { text } from './text.ts'

type Server = Required<Omit<SetEmailAccountInput['smtp'], 'user'>>

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
    label: text.providers.google.label,
    smtp: starttls('smtp.gmail.com'),
    imap: imap('imap.gmail.com'),
    note: text.providers.google.note,
  },
  {
    value: 'microsoft',
    label: text.providers.microsoft.label,
    smtp: starttls('smtp.office365.com'),
    imap: imap('outlook.office365.com'),
    note: text.providers.microsoft.note,
  },
  {
    value: 'icloud',
    label: text.providers.icloud.label,
    smtp: starttls('smtp.mail.me.com'),
    imap: imap('imap.mail.me.com'),
    note: text.providers.icloud.note,
  },
  {
    value: 'yahoo',
    label: text.providers.yahoo.label,
    smtp: tls('smtp.mail.yahoo.com'),
    imap: imap('imap.mail.yahoo.com'),
    note: text.providers.yahoo.note,
  },
  {
    value: 'fastmail',
    label: text.providers.fastmail.label,
    smtp: tls('smtp.fastmail.com'),
    imap: imap('imap.fastmail.com'),
    note: text.providers.fastmail.note,
  },
  {
    value: 'zoho',
    label: text.providers.zoho.label,
    smtp: tls('smtp.zoho.com'),
    imap: imap('imap.zoho.com'),
    note: text.providers.zoho.note,
  },
  {
    value: 'gmx',
    label: text.providers.gmx.label,
    smtp: starttls('mail.gmx.net'),
    imap: imap('imap.gmx.net'),
    note: text.providers.gmx.note,
  },
]
