import { createConnection, type Socket } from 'node:net'

export interface Request {
  /** Default: GET without a body, POST with one. */
  method?: 'PUT'
  path: string
  body?: string
}

const HOST = '127.0.0.1'
const END_OF_HEAD = '\r\n\r\n'
const END_OF_CHUNKS = Buffer.from('0\r\n\r\n')
/** The part of an error that is shown. */
const SHOWN_CHARACTERS = 500

/**
 * A keep-alive connection with one open request. It shares the processors with what it measures, and costs about half of
 * what autocannon does, because it only reads the status and the end of a response.
 */
export class Connection {
  readonly #socket: Socket
  readonly #headers: string
  readonly #port: number
  #parts: Buffer[] = []
  #bytes = 0
  #bytesWanted = 0
  #pending: { resolve: () => void; reject: (error: Error) => void } | null = null
  #failure: Error | null = null

  private constructor(socket: Socket, port: number, headers: Record<string, string>) {
    this.#socket = socket
    this.#port = port
    this.#headers = Object.entries({ host: `${HOST}:${port}`, ...headers })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')
    socket.on('data', (part) => this.#receive(part))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the service closed the connection')))
  }

  static async open(port: number, headers: Record<string, string>): Promise<Connection> {
    const socket = createConnection(port, HOST)
    socket.setNoDelay(true)
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    return new Connection(socket, port, headers)
  }

  /** @throws Error if the response is not 2xx. */
  send({ method, path, body }: Request): Promise<void> {
    const start = `${method ?? (body === undefined ? 'GET' : 'POST')} ${path} HTTP/1.1\r\n${this.#headers}`
    const rest =
      body === undefined
        ? '\r\n'
        : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#pending = { resolve, reject: (error) => reject(new Error(`port ${this.#port} ${path}: ${error.message}`)) }
      this.#socket.write(start + rest)
    })
  }

  close(): void {
    this.#pending = null
    this.#socket.destroy()
  }

  #receive(part: Buffer): void {
    this.#parts.push(part)
    this.#bytes += part.length
    if (this.#bytesWanted === 0) this.#readHead()
    if (this.#bytesWanted === 0 || !this.#isWhole(part)) return
    const isGood = this.#parts[0]?.[9] === '2'.charCodeAt(0)
    const response = isGood ? '' : Buffer.concat(this.#parts).toString().slice(0, SHOWN_CHARACTERS)
    const pending = this.#pending
    this.#parts = []
    this.#bytes = this.#bytesWanted = 0
    this.#pending = null
    if (isGood) pending?.resolve()
    else pending?.reject(new Error(response))
  }

  #isWhole(part: Buffer): boolean {
    if (this.#bytesWanted > 0) return this.#bytes >= this.#bytesWanted
    const end = part.length >= END_OF_CHUNKS.length ? part : Buffer.concat(this.#parts)
    return end.subarray(-END_OF_CHUNKS.length).equals(END_OF_CHUNKS)
  }

  /** Determines the size of the response; -1 if it is chunked. */
  #readHead(): void {
    const text = (this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts))?.toString('latin1') ?? ''
    const end = text.indexOf(END_OF_HEAD)
    if (end < 0) return
    const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))?.[1]
    this.#bytesWanted = length === undefined ? -1 : end + END_OF_HEAD.length + Number(length)
  }

  #fail(error: Error): void {
    this.#failure = error
    this.#pending?.reject(error)
  }
}
