import Type from 'typebox'
import { notFound } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import type { SandboxMail, SandboxMailbox } from './mailbox.ts'

const Reply = Type.Object({ text: Type.String({ minLength: 1, maxLength: 10_000 }) }, { additionalProperties: false })

/**
 * Serves the mails of the sandbox as a page of the demo shop.
 * @param answer has the recipient of a mail answer it.
 */
export function serveMailbox(
  app: App,
  mailbox: Pick<SandboxMailbox, 'mails'>,
  answer: (mail: SandboxMail, text: string) => Promise<void>,
): void {
  // JSON alone: no page of another site can send it without asking first.
  app.post(
    '/demo-site/mailbox/:id/reply',
    { config: { access: 'public' }, schema: { hide: true, body: Reply } as object },
    async (request, reply) => {
      const { id } = request.params as { id: string }
      const mail = mailbox.mails.find((each) => each.id === id)
      if (!mail) throw notFound('mail')
      await answer(mail, (request.body as Type.Static<typeof Reply>).text)
      return reply.code(204).send()
    },
  )
  app.get(
    '/demo-site/mailbox',
    { config: { access: 'public' }, schema: { hide: true } as object },
    async (_request, reply) => {
      // The mails come from outside: they may neither run scripts nor load anything.
      const policy =
        "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; connect-src 'self'; img-src data:"
      reply.headers({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': policy,
      })
      return reply.send(page(mailbox.mails))
    },
  )
}

function page(mails: readonly SandboxMail[]): string {
  const empty = '<p id="empty">No mails yet. Approve a proposed message in the dashboard, and it arrives here.</p>'
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sandbox mailbox</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css">
<script defer src="mailbox.js"></script>
<header><a href="./">The Lamp Shop</a> <a href="../approvals">Approve messages in the dashboard</a></header>
<main>
<h1>Sandbox mailbox</h1>
<p>Every mail that the demo sends arrives here and nowhere else. Mails are kept until the demo stops.</p>
<div id="mails" aria-live="polite">
${mails.length === 0 ? empty : mails.map(article).join('\n')}
</div>
</main>
</html>
`
}

function article({ id, from, to, subject, receivedAt, text, html }: SandboxMail): string {
  const time = receivedAt.toISOString()
  const title = escapeHtml(subject === '' ? '(no subject)' : subject)
  const body =
    html === null
      ? `<pre>${escapeHtml(text)}</pre>`
      : `<iframe sandbox="allow-popups allow-popups-to-escape-sandbox" title="${title}" srcdoc="${escapeHtml(`<base target="_blank"><style>body{font:15px/1.5 system-ui,sans-serif}</style>${html}`)}"></iframe>`
  return `<article class="mail" id="mail-${id}">
<h2>${title}</h2>
<p>From ${escapeHtml(from)} to ${escapeHtml(to.join(', '))} · <time datetime="${time}">${time.slice(11, 19)} UTC</time></p>
${body}
<form class="reply"><label>Answer as ${escapeHtml(to[0] ?? 'the recipient')} <textarea name="text" required maxlength="10000" rows="2"></textarea></label> <button>Send the answer</button> <span role="status"></span></form>
</article>`
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
