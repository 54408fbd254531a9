import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import type { WriteDependencies } from '../../contacts/writing/transaction.ts'
import { evenIfClosed } from '../../platform/closed-tenants.ts'
import type { App } from '../../platform/http/app-types.ts'
import { openTenant, type Stores, type Tenant } from '../../platform/tenant.ts'
import { confirmPage, donePage, invalidLinkPage, PAGE_HEADERS } from './page.ts'
import { readUnsubscribeToken } from './token.ts'
import { findUnsubscribeLink, type UnsubscribeLink, unsubscribe } from './unsubscribe.ts'

const PATH = '/unsubscribe/:token'
const BODY_BYTES_MAX = 16 * 1024
const Path = Type.Object({ token: Type.String() })
const PAGES = { config: { access: 'public' as const }, schema: { hide: true, params: Path } as object }

/** The targets of unsubscribe links: GET returns a page with a button; mail programs POST directly. */
export async function unsubscribeRoutes(app: App, dependencies: WriteDependencies & { stores: Stores }): Promise<void> {
  const { stores, clock } = dependencies
  // Mail programs POST a form (RFC 8058). The link alone says what to do, so any body is accepted and ignored.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX }, async () => undefined)

  async function find(token: string): Promise<{ tenant: Tenant; link: UnsubscribeLink } | null> {
    const known = readUnsubscribeToken(token)
    if (!known) return null
    // Even while it is closed: once it is reopened, it sends mail again.
    const tenant = openTenant(evenIfClosed(stores), known.tenantId)
    const link = await findUnsubscribeLink(tenant, known.hash, clock())
    return link ? { tenant, link } : null
  }

  app.get(PATH, PAGES, async ({ params }, reply) => {
    const found = await find((params as Type.Static<typeof Path>).token)
    return found ? send(reply, 200, confirmPage()) : send(reply, 404, invalidLinkPage())
  })

  app.post(PATH, PAGES, async ({ params }, reply) => {
    const found = await find((params as Type.Static<typeof Path>).token)
    if (!found) return send(reply, 404, invalidLinkPage())
    await unsubscribe(found.tenant, dependencies, found.link)
    return send(reply, 200, donePage())
  })
}

function send(reply: FastifyReply, status: number, page: string) {
  return reply.code(status).headers(PAGE_HEADERS).send(page)
}
