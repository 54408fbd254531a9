import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { brotli, buildScript } from '@customer-data-service/tracker/build'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A new script reaches every visitor within an hour; a copy up to a day old is used while it is revalidated. */
const CACHE_CONTROL = 'public, max-age=3600, stale-while-revalidate=86400'

interface Variant {
  etag: string
  body: Buffer
  encoding: string | null
}

/** The tracker script, bundled and compressed once. */
export interface TrackerScript {
  brotli: Variant
  gzip: Variant
  identity: Variant
}

const scripts = new Map<string, Promise<TrackerScript>>()

/** Bundles the script that sends its events to `collectPath`. A process that starts several services builds it once. */
export function buildTrackerScript(scriptPath: string, collectPath: string): Promise<TrackerScript> {
  // Relative, so that a site that proxies both under its own path needs no option.
  const collect = relativePath(scriptPath, collectPath)
  const script = scripts.get(collect) ?? compress(collect)
  scripts.set(collect, script)
  return script
}

async function compress(collect: string): Promise<TrackerScript> {
  const text = await buildScript(collect)
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 22)
  return {
    brotli: { etag: `"${hash}-br"`, body: brotli(text), encoding: 'br' },
    gzip: { etag: `"${hash}-gz"`, body: gzipSync(text, { level: 9 }), encoding: 'gzip' },
    identity: { etag: `"${hash}"`, body: Buffer.from(text), encoding: null },
  }
}

/** Sends the smallest variant that the browser accepts, or 304 if it has cached it. */
export function sendTrackerScript(script: TrackerScript, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const variant = variantFor(script, request.headers['accept-encoding'])
  reply.headers({ 'cache-control': CACHE_CONTROL, etag: variant.etag, vary: 'Accept-Encoding' })
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (known?.some((tag) => tag === '*' || tag === variant.etag)) return reply.code(304).send()
  reply.header('content-type', 'text/javascript; charset=utf-8')
  if (variant.encoding) reply.header('content-encoding', variant.encoding)
  return reply.send(variant.body)
}

function variantFor(script: TrackerScript, accepted = ''): Variant {
  const isAccepted = (encoding: string) =>
    accepted.split(',').some((part) => {
      const [name, quality] = part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*q=/)
      return name === encoding && quality !== '0' && !/^0\.0*$/.test(quality ?? '')
    })
  if (isAccepted('br')) return script.brotli
  return isAccepted('gzip') ? script.gzip : script.identity
}

/** From `/a/s.js`, `/a/t` is `t` and `/b/t` is `../b/t`. */
function relativePath(from: string, to: string): string {
  const origin = from.split('/').slice(1, -1)
  const target = to.split('/').slice(1)
  while (origin.length > 0 && target.length > 1 && origin[0] === target[0]) {
    origin.shift()
    target.shift()
  }
  return '../'.repeat(origin.length) + target.join('/')
}
