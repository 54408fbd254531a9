import { isUtf8 } from 'node:buffer'
import { finished, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { shown } from '../characters.ts'
import { ServiceError } from '../errors.ts'
import { parseJsonBody } from './body-parts.ts'
import { parseExactJson } from './exact-numbers.ts'

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
}
/** More than this of a body that is too large is not read, even if its sender then misses the response. */
const DISCARDED_BYTES_MAX = 32_000_000
/** The bytes of U+FFFD in UTF-8, as Latin-1. */
const REPLACEMENT_BYTES = '\xef\xbf\xbd'
const ENCODINGS = 'gzip, br or deflate'

/** A parser for JSON bodies of any content type, by the schema of the route. An absent body is undefined. */
export async function readJsonBody(request: FastifyRequest, payload: Readable): Promise<unknown> {
  const bytes = await readBody(request, payload)
  const schema = request.routeOptions.schema?.body as TSchema | undefined
  if (bytes.length === 0) return undefined
  return parseJsonBytes(bytes, schema, (warning) => void request.warnings.push(warning))
}

/**
 * Parses the bytes of a body as `parseJsonBody` does. Bytes that are not UTF-8 count as a lone surrogate in their string,
 * so that only its part fails. @throws ServiceError 400 `invalid_json` if that is the whole body.
 */
export function parseJsonBytes(bytes: Buffer, schema?: TSchema, warn?: (text: string) => void): unknown {
  if (isUtf8(bytes)) return parseJsonBody(bytes.toString('utf8'), schema, warn)
  // Decoding makes such bytes the character U+FFFD, which may have been sent as well: that one is set apart.
  const pieces = bytes.toString('latin1').split(REPLACEMENT_BYTES)
  const decoded = pieces.map((piece) => {
    // Between two of them: a body may have a million.
    if (piece === '') return ''
    return Buffer.from(piece, 'latin1').toString('utf8').replaceAll('\ufffd', '\udcff')
  })
  try {
    return parseJsonBody(decoded.join('\ufffd'), schema, warn)
  } catch (cause) {
    throw notUtf8(cause)
  }
}

/** The same for routes that check every value themselves. Numbers that would lose digits are texts. */
export async function readUncheckedJsonBody(request: FastifyRequest, payload: Readable): Promise<unknown> {
  const text = textOf(await readBody(request, payload))
  return text === '' ? undefined : parseExactJson(text)
}

/** A body as text. @throws ServiceError 400 `invalid_json` */
export function textOf(bytes: Buffer): string {
  // Decoding would replace invalid bytes and store a text that was never sent.
  if (!isUtf8(bytes)) throw notUtf8()
  return bytes.toString('utf8')
}

function notUtf8(cause?: unknown): ServiceError {
  return new ServiceError(400, 'invalid_json', 'The body is not valid UTF-8. Send JSON in UTF-8.', { cause })
}

/**
 * Reads and decompresses a request's body. The route's limit applies to the compressed and the decompressed size;
 * reading stops at the limit, so a decompression bomb costs no more than a large body.
 * @throws ServiceError 413 `body_too_large`, 415 `unsupported_content_encoding`, 400 `invalid_content_encoding` for a
 * stream that is truncated or corrupt.
 */
export async function readBody(request: FastifyRequest, payload: Readable): Promise<Buffer> {
  const { bodyLimit } = request.routeOptions
  const limit = bodyLimit ?? 0
  if (Number(request.headers['content-length']) > limit) {
    await discard(payload)
    throw tooLarge()
  }
  return collect(payload, limit, decoderOf(request) ?? undefined)
}

/** Decompresses a request's body; null if it is not compressed. @throws ServiceError 415 `unsupported_content_encoding`. */
export function decoderOf({ headers }: Pick<FastifyRequest, 'headers'>): Transform | null {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity') return null
  const createDecoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined
  if (createDecoder === undefined) throw unknownEncoding(encoding)
  return createDecoder()
}

/** Collects the bytes of a stream, decoded if necessary, up to a limit. */
function collect(payload: Readable, limit: number, decoder?: Transform): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const chunks: Buffer[] = []
  let arrivedBytes = 0
  let bytes = 0

  function fail(error: unknown): void {
    // What was read so far must not count as the body.
    payload.off('data', arrive).off('end', end)
    decoder?.off('end', finish).destroy()
    void discard(payload).then(() => reject(error))
  }
  function arrive(chunk: Buffer): void {
    arrivedBytes += chunk.length
    if (arrivedBytes > limit) fail(tooLarge())
    else if (!decoder) append(chunk)
    else if (!decoder.write(chunk)) {
      payload.pause()
      decoder.once('drain', () => payload.resume())
    }
  }
  function append(chunk: Buffer): void {
    bytes += chunk.length
    if (bytes > limit) fail(tooLarge())
    else chunks.push(chunk)
  }
  function finish(): void {
    resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
  }
  function end(): void {
    if (decoder) decoder.end()
    else finish()
  }

  payload.on('data', arrive)
  payload.once('end', end)
  payload.once('error', (cause) => fail(new ServiceError(400, 'bad_request', 'The body ended early.', { cause })))
  decoder?.on('data', append)
  decoder?.once('end', finish)
  decoder?.once('error', (cause) => fail(notDecodable(cause)))
  return promise
}

/**
 * Reads the rest of a rejected body, up to a limit. Fastify closes the connection with the response, and a client that
 * is still sending then would get a connection error instead of it.
 */
function discard(payload: Readable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let bytes = 0
  payload.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > DISCARDED_BYTES_MAX) resolve()
  })
  finished(payload, () => resolve())
  payload.resume()
  return promise
}

function tooLarge(): ServiceError {
  return new ServiceError(413, 'body_too_large', 'The body is too large for this endpoint. Send less at once.')
}

function unknownEncoding(encoding: string): ServiceError {
  const message = `The Content-Encoding ${shown(encoding)} is not supported. Use ${ENCODINGS}, or send the body uncompressed.`
  return new ServiceError(415, 'unsupported_content_encoding', message, {
    headers: { 'accept-encoding': 'gzip, br, deflate' },
  })
}

function notDecodable(cause: unknown): ServiceError {
  const message = 'The body does not match its Content-Encoding, or is corrupt or truncated. Send it again.'
  return new ServiceError(400, 'invalid_content_encoding', message, { cause })
}
