import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
  at: number
  /** The number of its connection, from 1. */
  connection: number
}

export interface Receiver {
  port: number
  received: Received[]
  /** How it responds to a request; 200 by default. */
  respond: (response: ServerResponse, request: Received) => void
  url(path?: string, host?: string): string
  close(): Promise<void>
}

export interface Certificate {
  key: string
  certificate: string
}

const NAMES = ['localhost', 'hooks.example', 'other.example', '*.hooks.example']

/** A certificate for the names in the tests; it is its own authority. */
export function makeCertificate(names = NAMES): Certificate {
  const directory = mkdtempSync(join(tmpdir(), 'cds-certificate-'))
  try {
    const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')]
    const alternatives = [...names.map((name) => `DNS:${name}`), 'IP:127.0.0.1'].join(',')
    const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    const subject = ['-subj', `/CN=${names[0]}`, '-addext', `subjectAltName=${alternatives}`]
    execFileSync('openssl', ['req', ...options, ...subject, '-keyout', key, '-out', certificate], { stdio: 'pipe' })
    return { key: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** An HTTPS server that records its requests. */
export async function startReceiver({ key, certificate }: Certificate): Promise<Receiver> {
  const received: Received[] = []
  let connections = 0
  const numbers = new WeakMap<object, number>()
  const server = createServer({ key, cert: certificate }, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { url = '', headers } = request
    const connection = numbers.get(request.socket) ?? 0
    const entry = { path: url, headers, body: Buffer.concat(chunks), at: Date.now(), connection }
    received.push(entry)
    receiver.respond(response, entry)
  })
  server.on('secureConnection', (socket) => numbers.set(socket, ++connections))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    port,
    received,
    respond: (response) => response.end('ok'),
    url: (path = '/hook', host = 'hooks.example') => `https://${host}:${port}${path}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}
