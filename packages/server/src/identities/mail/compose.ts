import { oneClick } from '../../platform/mail.ts'
import type { EmailAccount } from '../email-account.ts'
import { toHtml, toPlainText } from './markdown.ts'
import type { OutgoingMail } from './outgoing.ts'

/** The two bodies of a mail. */
export interface RenderedMail {
  text: string
  html: string
}

/** Its bodies are without the footer: the unsubscribe link is for the recipient only. */
export interface ComposedMail extends RenderedMail {
  /** The complete MIME message. */
  raw: Buffer
}

/** Composes a mail that `checkOutgoing` has checked. @param unsubscribeUrl for outreach, else null. */
export async function composeMail(
  { name, address }: Pick<EmailAccount, 'name' | 'address'>,
  mail: OutgoingMail,
  unsubscribeUrl: string | null,
  date: Date,
): Promise<ComposedMail> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const content = await renderContent(mail.markdown)
  const { references = [], inReplyTo } = mail
  const composer = new MailComposer({
    from: { name, address },
    to: { name: '', address: mail.to },
    subject: mail.subject,
    messageId: `<${mail.messageId}>`,
    ...(inReplyTo === undefined ? {} : { inReplyTo: `<${inReplyTo}>` }),
    ...(references.length === 0 ? {} : { references: references.map((id) => `<${id}>`) }),
    date,
    ...withFooter(content, unsubscribeUrl),
    ...oneClick(unsubscribeUrl),
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: 'windows',
  })
  return { ...content, raw: await composer.compile().build() }
}

/** Renders the sender's text, without the footer. */
export async function renderContent(markdown: string): Promise<RenderedMail> {
  const [text, html] = await Promise.all([toPlainText(markdown), toHtml(markdown)])
  return { text, html }
}

/** Completes the bodies as they are sent. @param unsubscribeUrl for outreach, else null. */
export function withFooter({ text, html }: RenderedMail, unsubscribeUrl: string | null): RenderedMail {
  const line = unsubscribeUrl === null ? '' : `\n\nUnsubscribe: ${unsubscribeUrl}`
  const footer = unsubscribeUrl === null ? '' : `<p><small><a href="${unsubscribeUrl}">Unsubscribe</a></small></p>`
  return {
    text: `${text}${line}\n`,
    html: `<!doctype html><html><head><meta charset="utf-8"></head><body>${html}${footer}</body></html>`,
  }
}
