import { setTimeout as sleep } from 'node:timers/promises'
import { OutboundError } from '../../platform/outbound/client.ts'
import type { Transfer, TransferResponse } from '../../platform/outbound/transfer.ts'
import { type Credentials, pathOfKey, signed } from './sign.ts'
import { type Storage, StorageError } from './storage.ts'

/** S3 rejects parts smaller than 5 MiB, except the last one. */
const PART_BYTES = 8 * 1024 * 1024
const MULTIPART_FROM_BYTES = 2 * PART_BYTES
/** The pauses between the attempts of a request. */
const PAUSES_MS = [250, 1_000, 4_000]
/** The storage is busy or failed temporarily. 503 is S3's SlowDown. */
const TRANSIENT = new Set([408, 429, 500, 502, 503, 504])
const REASON_LENGTH_MAX = 300
const EMPTY = Buffer.alloc(0)

interface Place {
  endpoint: string
  bucket: string
  prefix: string
}

interface Call {
  method: 'PUT' | 'POST' | 'DELETE'
  path: string
  query?: Record<string, string>
  contentType?: string
  body?: Buffer
  signal?: AbortSignal | undefined
}

/** A bucket of S3 or a compatible storage. It uses path-style URLs, which all of them support. */
export function openBucket(transfer: Transfer, { endpoint, bucket, prefix }: Place, credentials: Credentials): Storage {
  async function callOnce({ method, path, query = {}, contentType, body = EMPTY, signal }: Call) {
    const key = prefix === '' ? path : `${prefix}/${path}`
    const url = new URL(`${endpoint}/${bucket}/${pathOfKey(key)}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const own: Record<string, string> = contentType === undefined ? {} : { 'content-type': contentType }
    // Each attempt gets a new signature, based on the machine's clock, because storages refuse old and future signatures.
    const headers = signed({ method, url, headers: own, body }, credentials, new Date())
    return transfer.send({ method, url: url.href, headers, body, signal })
  }

  /** @throws StorageError, OutboundError */
  async function call(
    wanted: Call,
    isFine = (response: TransferResponse) => response.status < 300,
  ): Promise<TransferResponse> {
    for (let attempt = 0; ; attempt++) {
      const pause = PAUSES_MS[attempt]
      try {
        const response = await callOnce(wanted)
        if (isFine(response)) return response
        const isTransient = TRANSIENT.has(response.status) || response.status < 300
        if (!isTransient || pause === undefined) throw refusal(response)
      } catch (error) {
        // The storage already had two minutes to respond. Other runs continue instead of waiting for a retry.
        if (!(error instanceof OutboundError) || error.code === 'timeout' || pause === undefined) throw error
      }
      await sleep(pause, undefined, wanted.signal ? { signal: wanted.signal } : {})
    }
  }

  async function writeInParts(path: string, bytes: Buffer, contentType: string, signal?: AbortSignal): Promise<void> {
    const started = await call({ method: 'POST', path, query: { uploads: '' }, contentType, signal })
    const uploadId = elementOf(started.body, 'UploadId')
    if (uploadId === null)
      throw new StorageError('The storage did not start a multipart upload. Check that it is compatible with S3.')
    try {
      const parts: string[] = []
      for (let from = 0; from < bytes.length; from += PART_BYTES) {
        const query = { partNumber: String(parts.length + 1), uploadId }
        const body = bytes.subarray(from, from + PART_BYTES)
        const { headers } = await call({ method: 'PUT', path, query, body, signal })
        parts.push(
          `<Part><PartNumber>${parts.length + 1}</PartNumber><ETag>${escaped(headers.etag ?? '')}</ETag></Part>`,
        )
      }
      const list = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
      const finish = { query: { uploadId }, contentType: 'application/xml', body: Buffer.from(list) }
      // S3 responds with 200 before it knows whether the request succeeds.
      await call({ method: 'POST', path, ...finish, signal }, ({ status, body }) => status < 300 && !isError(body))
    } catch (error) {
      // Otherwise the storage would keep the parts and charge for them.
      await call({ method: 'DELETE', path, query: { uploadId } }).catch(() => {})
      throw error
    }
  }

  return {
    write: async (path, bytes, contentType, signal) => {
      if (bytes.length >= MULTIPART_FROM_BYTES) return writeInParts(path, bytes, contentType, signal)
      await call({ method: 'PUT', path, contentType, body: bytes, signal })
    },
    remove: async (path) => {
      await call({ method: 'DELETE', path }, ({ status }) => status < 300 || status === 404)
    },
  }
}

function refusal({ status, headers, body }: TransferResponse): StorageError {
  const [code, reason] = [elementOf(body, 'Code'), elementOf(body, 'Message')]
  const said = [code, reason].filter((part) => part !== null).join(': ')
  const outcome = `The storage responded with ${status}${said === '' ? '' : `, ${said.slice(0, REASON_LENGTH_MAX)}`}.`
  if (status >= 300 && status < 400) {
    const region = headers['x-amz-bucket-region']
    return new StorageError(
      `${outcome} Check the endpoint and the region${region ? `: the bucket is in ${region}` : ''}.`,
    )
  }
  if (status === 403) return new StorageError(`${outcome} Check the access key, its secret and its permissions.`)
  if (status === 404) return new StorageError(`${outcome} Check the endpoint and the bucket.`)
  return new StorageError(outcome)
}

function isError(body: Buffer): boolean {
  return body.includes('<Error>')
}

/** The text of an XML element, without control characters. Responses have no nested or repeated elements of this name. */
function elementOf(body: Buffer, name: string): string | null {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(body.toString('utf8'))?.[1]
  if (text === undefined) return null
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
  return text.replace(/&(\w+);/g, (whole, entity: string) => entities[entity] ?? whole).replace(/\p{Cc}/gu, ' ')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
