import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MINUTE_MS } from '../src/platform/time.ts'

/** What a storage returns for a request instead of serving it; `cut` closes the connection within the request. */
export type Fault = { status: number; code: string } | 'cut' | null

/** A storage that behaves like S3 where the service uses it, and verifies the signature of every request. */
export interface ObjectStorage {
  url: string
  /** By bucket and key: `exports/a/b`. */
  objects: Map<string, Buffer>
  /** Of each request that was served or refused: method, path and query. */
  requests: string[]
  /** Uploads in parts that were neither completed nor aborted. */
  uploads: Map<string, Map<number, Buffer>>
  /** Decides about each request, before its signature is verified. */
  fault: (request: { method: string; path: string; query: URLSearchParams }) => Fault
  close(): Promise<void>
}

export const STORAGE_KEY = {
  access_key_id: 'AKIATESTKEY',
  secret_access_key: 'the/secret+of the storage'.replace(/ /g, '-'),
}
const REGION = 'eu-test-1'
const CLOCK_SKEW_MS_MAX = 15 * MINUTE_MS

/** Starts it on a loopback port, without TLS. */
export async function startObjectStorage(): Promise<ObjectStorage> {
  const objects = new Map<string, Buffer>()
  const uploads = new Map<string, Map<number, Buffer>>()
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const { method = '' } = request
    storage.requests.push(`${method} ${url.pathname}${url.search}`)
    const fault = storage.fault({ method, path: url.pathname, query: url.searchParams })
    if (fault === 'cut') {
      // The socket: a request that has ended is destroyed already.
      request.once('data', () => request.socket.destroy())
      request.once('end', () => request.socket.destroy())
      return
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    if (fault !== null) return refuse(response, fault.status, fault.code)
    const problem = problemOfSignature(request, url, body)
    if (problem !== null) return refuse(response, 403, problem)
    const key = decodeURIComponent(url.pathname.slice(1))
    if (!key.startsWith('exports/')) return refuse(response, 404, 'NoSuchBucket')
    respond({ method, key, query: url.searchParams, body }, response)
  }

  function respond(
    { method, key, query, body }: { method: string; key: string; query: URLSearchParams; body: Buffer },
    response: ServerResponse,
  ): void {
    const uploadId = query.get('uploadId')
    if (method === 'POST' && query.has('uploads')) {
      const id = `upload&${uploads.size + 1}/${key}`
      uploads.set(id, new Map())
      const escapedId = id.replaceAll('&', '&amp;')
      response.end(`<InitiateMultipartUploadResult><UploadId>${escapedId}</UploadId></InitiateMultipartUploadResult>`)
      return
    }
    if (uploadId !== null) respondToUpload({ method, key, uploadId, query, body }, response)
    else if (method === 'PUT') {
      objects.set(key, body)
      response.setHeader('etag', etagOf(body)).end()
    } else if (method === 'DELETE') {
      objects.delete(key)
      response.writeHead(204).end()
    } else refuse(response, 405, 'MethodNotAllowed')
  }

  function respondToUpload(
    call: { method: string; key: string; uploadId: string; query: URLSearchParams; body: Buffer },
    response: ServerResponse,
  ): void {
    const { method, key, uploadId, query, body } = call
    const parts = uploads.get(uploadId)
    if (!parts || !uploadId.endsWith(`/${key}`)) refuse(response, 404, 'NoSuchUpload')
    else if (method === 'DELETE') {
      uploads.delete(uploadId)
      response.writeHead(204).end()
    } else if (method === 'PUT') {
      parts.set(Number(query.get('partNumber')), body)
      response.setHeader('etag', etagOf(body)).end()
    } else {
      const listed = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)]
      const chosen = listed.map(([, number, etag]) => {
        const part = parts.get(Number(number))
        return part && etagOf(part) === etag?.replaceAll('&quot;', '"') ? part : null
      })
      const isTooSmall = chosen.slice(0, -1).some((part) => (part?.length ?? 0) < 5 * 1024 * 1024)
      if (chosen.length !== parts.size || chosen.includes(null)) refuse(response, 400, 'InvalidPart')
      else if (isTooSmall) refuse(response, 400, 'EntityTooSmall')
      else {
        objects.set(key, Buffer.concat(chosen.filter((part) => part !== null)))
        uploads.delete(uploadId)
        response.end('<CompleteMultipartUploadResult/>')
      }
    }
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const storage: ObjectStorage = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    requests: [],
    uploads,
    fault: () => null,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return storage
}

function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' })
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>Refused &amp; logged</Message></Error>`)
}

/** Calculates the signature from what was received, as the documentation of Signature Version 4 describes. */
function problemOfSignature(
  { method = '', headers, rawHeaders }: IncomingMessage,
  url: URL,
  body: Buffer,
): string | null {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
  const [, keyId, day = '', region = '', names = '', signature = ''] = form.exec(headers.authorization ?? '') ?? []
  if (keyId !== STORAGE_KEY.access_key_id) return 'InvalidAccessKeyId'
  if (region !== REGION) return 'AuthorizationHeaderMalformed'
  const at = String(headers['x-amz-date'])
  const time = Date.parse(at.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
  if (!at.startsWith(day) || !(Math.abs(time - Date.now()) < CLOCK_SKEW_MS_MAX)) return 'RequestTimeTooSkewed'
  const bodyHash = createHash('sha256').update(body).digest('hex')
  if (headers['x-amz-content-sha256'] !== bodyHash) return 'XAmzContentSHA256Mismatch'
  const signed = names.split(';')
  const required = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
  const needed = required.filter((name) => name === 'host' || name === 'content-type' || name.startsWith('x-amz-'))
  if (needed.some((name) => !signed.includes(name))) return 'AccessDenied'
  const query = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', value = ''] = pair.split('=')
      return `${encodedStrictly(name)}=${encodedStrictly(value)}`
    })
    .sort()
    .join('&')
  const lines = signed.map((name) => `${name}:${String(headers[name]).trim()}`)
  const path = url.pathname.split('/').map(encodedStrictly).join('/')
  const canonical = [method, path, query, ...lines, '', names, bodyHash].join('\n')
  const hash = createHash('sha256').update(canonical).digest('hex')
  const keyed = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const key = keyed(keyed(keyed(keyed(`AWS4${STORAGE_KEY.secret_access_key}`, day), region), 's3'), 'aws4_request')
  const expected = keyed(key, `AWS4-HMAC-SHA256\n${at}\n${day}/${region}/s3/aws4_request\n${hash}`)
  return timingSafeEqual(Buffer.from(signature, 'hex'), expected) ? null : 'SignatureDoesNotMatch'
}

/** What S3 calculates with: the text that was sent, decoded, with everything but unreserved characters encoded. */
function encodedStrictly(sent: string): string {
  return Array.from(Buffer.from(decodeURIComponent(sent)), (byte) => {
    const character = String.fromCharCode(byte)
    return /[A-Za-z0-9._~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
}

/** The fields of a destination in a storage. */
export function destinationIn(storage: ObjectStorage, more: object = {}) {
  return {
    name: 'Warehouse',
    type: 's3',
    endpoint: storage.url,
    region: REGION,
    bucket: 'exports',
    prefix: 'cds',
    schedule: null,
    ...STORAGE_KEY,
    ...more,
  }
}
