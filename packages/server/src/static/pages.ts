import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../platform/http/app-types.ts'
import { handleUnknownPaths } from '../platform/http/conventions.ts'

/** Output directory of the dashboard's build. */
const DIST = fileURLToPath(new URL('../../../dashboard/dist/', import.meta.url))
const INDEX = 'index.html'
/** These files are named by their content, so browsers can cache them forever. */
const IMMUTABLE = 'public, max-age=31536000, immutable'
const FILE_NAME = /^(?!\.)[A-Za-z0-9._-]{1,200}$/
/** Paths for programs: an unknown path below them returns JSON, never a page. */
const NO_PAGE = /^\/(v1|api|assets|docs|health|metrics|mcp|track|recover-visitor)(\/|$)|^\/openapi\.json$/
/** Placeholder in index.html, filled in for every response: stylesheets that the pages create carry the nonce. */
const NONCE_PLACE = 'nonce=""'

/**
 * Serves the dashboard: the built files, and the same index.html for every path that people may open, because routing
 * happens in the browser.
 */
export async function servePages(app: App, directory = DIST): Promise<void> {
  await app.register(fastifyStatic, { serve: false, preCompressed: true, cacheControl: false })

  app.get('/assets/:file', { config: { access: 'public' }, schema: { hide: true } as object }, (request, reply) => {
    const { file } = request.params as { file: string }
    if (!FILE_NAME.test(file)) return reply.callNotFound()
    reply.headers({ ...SECURITY, 'cache-control': IMMUTABLE })
    return reply.sendFile(file, join(directory, 'assets'))
  })

  handleUnknownPaths(app, async (request, reply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const [path = '/'] = request.url.split('?')
    if (NO_PAGE.test(path)) return false
    const name = path.slice(1)
    if (FILE_NAME.test(name) && name !== INDEX && (await isFile(join(directory, name)))) {
      reply.code(200).headers({ ...SECURITY, 'cache-control': 'no-cache' })
      await reply.sendFile(name, directory)
      return true
    }
    if (!wantsPage(request)) return false
    await sendIndex(reply, directory)
    return true
  })
}

function wantsPage({ headers: { accept = '' }, url }: FastifyRequest): boolean {
  return url === '/' || accept.includes('text/html')
}

async function sendIndex(reply: FastifyReply, directory: string): Promise<void> {
  const nonce = randomBytes(16).toString('base64')
  reply.headers({ ...SECURITY, 'cache-control': 'no-cache', 'content-type': 'text/html; charset=utf-8' })
  reply.header('content-security-policy', contentSecurityPolicy(nonce))
  // Read for every request: it is small, and a new build takes effect without a restart.
  const page = await readFile(join(directory, INDEX), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (page === null) await reply.code(503).header('retry-after', '10').send(NOT_BUILT)
  else await reply.code(200).send(page.replaceAll(NONCE_PLACE, `nonce="${nonce}"`))
}

/** Allows only our own scripts, our own styles and those with the nonce; no frames and no other sites. */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'self'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ')
}

const SECURITY = {
  // For files opened directly, such as an SVG with a script; pages override it with their own policy.
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
}

const NOT_BUILT = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Customer Data Service</title></head><body>
<h1>The dashboard is not built yet</h1>
<p><code>npm start</code> builds it while the service runs, which takes a few seconds: load this page again then.
If that did not work, see what <code>node packages/dashboard/ensure-built.ts</code> says.</p>
<p>The API works without it: see <a href="/docs">/docs</a>.</p>
</body></html>
`

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found?.isFile() ?? false
}
