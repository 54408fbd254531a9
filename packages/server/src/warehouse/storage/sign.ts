import { createHash, createHmac } from 'node:crypto'

export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

interface Request {
  method: string
  url: URL
  /** By name in lower case. */
  headers: Record<string, string>
  body: Buffer
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
const SERVICE = 's3'

/** Signs a request to S3 (AWS Signature Version 4). @returns the headers, with the signature. */
export function signed(request: Request, credentials: Credentials, now: Date): Record<string, string> {
  const at = `${now.toISOString().replace(/[-:]|\.\d+/g, '')}`
  const bodyHash = sha256(request.body)
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.url.host,
    'x-amz-content-sha256': bodyHash,
    'x-amz-date': at,
  }
  const names = Object.keys(headers).sort()
  const canonical = [
    request.method,
    request.url.pathname,
    canonicalQuery(request.url.searchParams),
    ...names.map((name) => `${name}:${headers[name]?.trim().replace(/\s+/g, ' ')}`),
    '',
    names.join(';'),
    bodyHash,
  ].join('\n')
  const scope = [at.slice(0, 8), credentials.region, SERVICE, 'aws4_request']
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${credentials.secretAccessKey}`)
  const text = [ALGORITHM, at, scope.join('/'), sha256(Buffer.from(canonical))].join('\n')
  const signature = hmac(key, text).toString('hex')
  const authorization = `${ALGORITHM} Credential=${credentials.accessKeyId}/${scope.join('/')},SignedHeaders=${names.join(';')},Signature=${signature}`
  return { ...headers, authorization }
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function canonicalQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
  return pairs.sort().join('&')
}

/** A key as the path of a URL. `URL` would leave characters such as `=` as they are, which S3 encodes before it verifies. */
export function pathOfKey(key: string): string {
  return key.split('/').map(encoded).join('/')
}

/** The encoding of signatures: everything but unreserved characters. */
function encoded(text: string): string {
  const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(text).replace(/[!'()*]/g, percent)
}
