import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import type { App } from '../platform/http/app-types.ts'

const FOLDER = new URL('./site/', import.meta.url)
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.vtt': 'text/vtt; charset=utf-8',
}
const SAMPLES_PER_SECOND = 8_000
const FILM_SECONDS = 8

/** Serves a small shop with the tracker. Only the demo does this. */
export function serveDemoSite(app: App): void {
  const serve = (path: string, type: string, bytes: Buffer) =>
    app.get(
      `/demo-site/${path}`,
      { config: { access: 'public' }, schema: { hide: true } as object },
      async (request, reply) => {
        reply.headers({ 'content-type': type, 'cache-control': 'no-cache', 'accept-ranges': 'bytes' })
        // Players seek with range requests.
        const from = Number(/^bytes=(\d{1,9})-/.exec(request.headers.range ?? '')?.[1] ?? Number.NaN)
        if (!(from < bytes.length)) return reply.send(bytes)
        reply.code(206).header('content-range', `bytes ${from}-${bytes.length - 1}/${bytes.length}`)
        return reply.send(bytes.subarray(from))
      },
    )
  for (const file of readdirSync(FOLDER)) {
    const type = TYPES[extname(file)] ?? 'application/octet-stream'
    const bytes = readFileSync(new URL(file, FOLDER))
    serve(file, type, bytes)
    if (file === 'index.html') serve('', type, bytes)
  }
  serve('film.wav', 'audio/wav', synthesizeFilm())
}

/** The sound of the film, a rising tone. Generated, so that the repository needs no media file. */
function synthesizeFilm(): Buffer {
  const samples = SAMPLES_PER_SECOND * FILM_SECONDS
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + samples, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(SAMPLES_PER_SECOND, 24)
  header.writeUInt32LE(SAMPLES_PER_SECOND, 28)
  header.writeUInt16LE(1, 32)
  header.writeUInt16LE(8, 34)
  header.write('data', 36)
  header.writeUInt32LE(samples, 40)
  const tone = Buffer.alloc(samples)
  for (let i = 0; i < samples; i++) {
    const seconds = i / SAMPLES_PER_SECOND
    tone[i] = 128 + Math.round(12 * Math.sin(2 * Math.PI * (220 + 20 * seconds) * seconds))
  }
  return Buffer.concat([header, tone])
}
