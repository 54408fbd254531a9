import { toHtml, toPlainText } from './markdown.ts'

/** The two bodies of a mail. */
export interface RenderedMail {
  text: string
  html: string
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
