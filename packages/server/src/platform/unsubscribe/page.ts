/** Inline, so that the pages load no resources and need no scripts. */
const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto 0;padding:0 1rem;color:#1a1a1a;background:#fff}button{font:inherit;padding:.5rem 1rem;border:0;border-radius:.3rem;color:#fff;background:#1864ab;cursor:pointer}@media(prefers-color-scheme:dark){body{color:#eee;background:#1a1a1a}}'

export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}

/** Asks for confirmation, because link scanners follow the links in mails. */
export function confirmPage(question: string): string {
  return page('Unsubscribe', `<p>${question}</p><form method="post"><button type="submit">Unsubscribe</button></form>`)
}

export function donePage(sentence: string): string {
  return page('Unsubscribed', `<p>${sentence}</p>`)
}

export function invalidLinkPage(sentence: string): string {
  return page('This link does not work', `<p>${sentence}</p>`)
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${title}</title><style>${STYLE}</style></head>
<body><main><h1>${title}</h1>${content}</main></body>
</html>
`
}
