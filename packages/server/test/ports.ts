import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the range from which systems assign ports. */
const FIRST = 10_000
const COUNT = 20_000
const A_PROCESS = 16
let tried = 0

/**
 * A free port of 127.0.0.1 for a server that needs a fixed port, or returns to it: the system assigns it to no other
 * program while its owner is down, and other processes of this run use other ports.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + ((process.pid * A_PROCESS + tried++) % COUNT)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
