/** Servers of a ClickHouse cluster that speak an old version of its protocol just well enough to fail. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface BrokenShard {
  port: string
  close(): Promise<unknown>
}

const HELLO = Buffer.from([0, 1, 88, 21, 1, 0x90, 0xa6, 0x03])
const [PING, PONG] = [Buffer.from([4]), Buffer.from([4])]
const BLOCK_INFO = [1, 0, 2, 0xff, 0xff, 0xff, 0xff, 0]
/** Ends a query, and later the inserted rows: a block without rows. */
const END = Buffer.from([2, 0, ...BLOCK_INFO, 0, 0])

/** Disconnects at the first query, as if it were killed. */
export function listenAndHangUp(): Promise<BrokenShard> {
  return listen((socket) => socket.once('data', () => socket.end()))
}

/** Receives rows of some columns, and returns an error instead of storing them. */
export function listenAndRefuse(columns: Readonly<Record<string, string>>, code: number): Promise<BrokenShard> {
  const names = Object.entries(columns).flatMap(([name, type]) => [text(name), text(type)])
  const header = Buffer.concat([Buffer.from([1, 0, ...BLOCK_INFO, names.length / 2, 0]), ...names])
  const refusal = [text('DB::Exception'), text('DB::Exception: These rows are not for me'), text('')]
  const exception = Buffer.concat([Buffer.from([2, code, 0, 0, 0]), ...refusal, Buffer.from([0])])
  return listen((socket) => {
    let received = Buffer.alloc(0)
    let responses = [header, exception]
    socket.on('data', (chunk) => {
      if (chunk.equals(PING)) return socket.write(PONG)
      received = Buffer.concat([received, chunk])
      if (!received.subarray(-END.length).equals(END)) return
      received = Buffer.alloc(0)
      const [response = exception, ...others] = responses
      responses = others.length > 0 ? others : [header, exception]
      socket.write(response)
    })
  })
}

async function listen(serve: (socket: Socket) => void): Promise<BrokenShard> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(HELLO)
      serve(socket)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port: String(port), close: () => new Promise((resolve) => server.close(resolve)) }
}

/** A text that is shorter than 128 bytes. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])
}
