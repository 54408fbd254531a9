import { buildScript } from '@customer-data-service/tracker/build'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Compressed, compress, sendCompressed } from '../../platform/http/compressed.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../../platform/time.ts'

/** A new script reaches every visitor within an hour; a copy up to a day old is used while it is revalidated. */
const CACHE_CONTROL = `public, max-age=${HOUR_SECONDS}, stale-while-revalidate=${DAY_SECONDS}`

const scripts = new Map<string, Promise<Compressed>>()

/** Bundles the script that sends its events to `collectPath`. A process that starts several services builds it once. */
export function buildTrackerScript(scriptPath: string, collectPath: string): Promise<Compressed> {
  // Relative, so that a site that proxies both under its own path needs no option.
  const collect = relativePath(scriptPath, collectPath)
  const name = scriptPath.replace(/.*\//, '')
  const key = `${collect} ${name}`
  const script = scripts.get(key) ?? buildAndCompress(collect, name)
  scripts.set(key, script)
  return script
}

async function buildAndCompress(collect: string, name: string): Promise<Compressed> {
  return compress(await buildScript(collect, name), 'text/javascript; charset=utf-8')
}

/** Sends the script, or 304 if the browser has it. */
export function sendTrackerScript(script: Compressed, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendCompressed(script, CACHE_CONTROL, request, reply)
}

/** Sends a script that only writes a message to the console, uncached, so that the tracker replaces it at once. */
export function sendScriptThatSays(message: string, reply: FastifyReply): FastifyReply {
  return reply
    .headers({ 'cache-control': 'no-store', 'content-type': 'text/javascript; charset=utf-8' })
    .send(`console.warn(${JSON.stringify(`Customer Data Service: nothing is recorded. ${message}`)})\n`)
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
