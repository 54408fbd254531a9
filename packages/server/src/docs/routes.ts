import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../platform/http/app-types.ts'
import { type Compressed, sendCompressed } from '../platform/http/compressed.ts'
import { buildViewer } from './assets.ts'
import { readImage } from './contents.ts'
import { buildSite, type Site } from './site.ts'

const ROUTE = { config: { access: 'public' as const }, schema: { hide: true } as object }
/** Assets are named by their content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'
const REVALIDATED = 'no-cache'
const IMAGES: Record<string, string> = { png: 'image/png', svg: 'image/svg+xml' }
const IMAGE_NAME = /^[a-z0-9-]{1,100}\.(png|svg)$/

/** The documentation at /docs, rendered when it is first opened, and the API reference at /docs/api. */
export function docsRoutes(app: App): void {
  let site: Promise<Site> | undefined
  const open = () => {
    site ??= buildSite(app.swagger()).catch((error) => {
      site = undefined
      throw error
    })
    return site
  }

  app.get('/docs', ROUTE, async (request, reply) => sendPage(await open(), '/docs', request, reply))

  app.get('/docs/api', ROUTE, async (request, reply) => {
    reply.headers(security("'self' 'unsafe-inline'"))
    return sendCompressed(await (await open()).openApiPage(), REVALIDATED, request, reply)
  })

  app.get('/docs/search.json', ROUTE, async (request, reply) =>
    sendCompressed((await open()).search, REVALIDATED, request, reply),
  )

  app.get('/docs/assets/:name', ROUTE, async (request, reply) => {
    const { name } = request.params as { name: string }
    const { assets } = await open()
    const font = assets.fonts.get(name)
    if (font) return reply.headers({ 'cache-control': IMMUTABLE, 'content-type': 'font/woff2' }).send(font)
    const asset = name.startsWith('viewer-') ? await findViewer(name) : assets.byName.get(name)
    if (!asset) return reply.callNotFound()
    return sendCompressed(asset, IMMUTABLE, request, reply)
  })

  app.get('/docs/images/:name', ROUTE, async (request, reply) => {
    const { name } = request.params as { name: string }
    const extension = IMAGE_NAME.exec(name)?.[1]
    const image = extension && (await readImage(name).catch(() => null))
    if (!image) return reply.callNotFound()
    reply.headers({ ...security(), 'cache-control': REVALIDATED, 'content-type': IMAGES[extension] })
    return reply.send(image)
  })

  app.get('/docs/*', ROUTE, async (request, reply) => {
    const [path = '', query] = request.url.split('?')
    const simple = path.replace(/(\/|\.md)$/, '')
    if (simple !== path) return reply.redirect(query === undefined ? simple : `${simple}?${query}`, 301)
    return sendPage(await open(), path, request, reply)
  })
}

function sendPage(site: Site, path: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const page = site.pages.get(path)
  if (page) return sendCompressed(page, REVALIDATED, request, reply.headers(security()))
  if (!request.headers.accept?.includes('text/html')) {
    reply.callNotFound()
    return reply
  }
  return sendCompressed(site.unknownPage, REVALIDATED, request, reply.code(404).headers(security()))
}

async function findViewer(name: string): Promise<Compressed | undefined> {
  const viewer = await buildViewer()
  return viewer.name === name ? viewer.script : undefined
}

/** Nothing from elsewhere, and no inline script. @param styles the viewer of the API reference makes styles of its own */
function security(styles = "'self'") {
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      `style-src ${styles}`,
      "img-src 'self' data:",
      "font-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'cross-origin-resource-policy': 'same-origin',
    'x-frame-options': 'DENY',
  }
}
