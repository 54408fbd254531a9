import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems hand out by themselves. */
const FIRST = 10_000
const COUNT = 20_000
const A_PROCESS = 16
let tried = 0

/**
 * A free port of 127.0.0.1 for a server that is told its port, or comes back to it: the system gives it to nobody else
 * before it is taken and while its owner is away, and another process of this run does not look for one here.
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
