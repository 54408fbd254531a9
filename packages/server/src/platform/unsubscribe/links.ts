import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import type { App } from '../http/app-types.ts'
import { confirmPage, donePage, invalidLinkPage, PAGE_HEADERS } from './page.ts'

const BODY_BYTES_MAX = 16 * 1024
const Path = Type.Object({ token: Type.String() })
const PAGES = { config: { access: 'public' as const }, schema: { hide: true, params: Path } as object }

/** What the unsubscribe links in one kind of mail do. */
interface UnsubscribeLinks<Link> {
  /** Ends with `/:token`. */
  path: string
  find(token: string): Promise<Link | null>
  /** Idempotent: mail programs repeat it. */
  unsubscribe(link: Link): Promise<void>
  /** Sentences of the pages, in HTML. */
  question: string
  done: string
  invalid: string
}

/** The targets of unsubscribe links: GET returns a page with a button; mail programs POST directly. */
export function unsubscribeLinks<Link>(app: App, links: UnsubscribeLinks<Link>): void {
  const { path, find, unsubscribe } = links
  // Mail programs POST a form (RFC 8058). The link alone says what to do, so any body is accepted and ignored.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX }, async () => undefined)
  const linkOf = (params: unknown) => find((params as Type.Static<typeof Path>).token)

  app.get(path, PAGES, async ({ params }, reply) =>
    (await linkOf(params))
      ? send(reply, 200, confirmPage(links.question))
      : send(reply, 404, invalidLinkPage(links.invalid)),
  )

  app.post(path, PAGES, async ({ params }, reply) => {
    const link = await linkOf(params)
    if (!link) return send(reply, 404, invalidLinkPage(links.invalid))
    await unsubscribe(link)
    return send(reply, 200, donePage(links.done))
  })
}

function send(reply: FastifyReply, status: number, page: string) {
  return reply.code(status).headers(PAGE_HEADERS).send(page)
}
