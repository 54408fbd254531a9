import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'

/** Memory that stalled readers may use in total. Beyond it, they are disconnected at once. */
const STALLED_BYTES_MAX = 64 * 1024 * 1024
/** Requests that a client may send before it has read the response to the first one. */
const WAITING_MAX = 100

/**
 * Keeps clients that send requests without reading the responses from filling memory. Call it before any route is
 * added. @param stalledSeconds time without progress after which a connection is closed.
 */
export function boundUnreadResponses(app: FastifyInstance, stalledSeconds: number): void {
  closeStalledReaders(app, stalledSeconds * 1000)
  serveInTurn(app)
}

interface Stalled {
  since: number
  lastSeen: number
}

/**
 * Closes connections whose client does not read its response: after the time limit, or sooner when stalled clients use
 * 64 MiB in total. Node reports a socket without progress; one with nothing to send is waiting for us and is left
 * alone.
 */
function closeStalledReaders(app: FastifyInstance, stalledMsMax: number): void {
  const checkEveryMs = stalledMsMax / 15
  const stalled = new Map<Socket, Stalled>()

  function noteStalled(socket: Socket): void {
    if (socket.writableLength === 0) return
    const now = performance.now()
    let heldBytes = 0
    for (const [each, { lastSeen }] of stalled) {
      // It is closed, or has made progress, because it was not reported again in time.
      if (each.destroyed || now - lastSeen > 3 * checkEveryMs) stalled.delete(each)
      else if (each !== socket) heldBytes += each.writableLength
    }
    heldBytes += socket.writableLength
    const since = stalled.get(socket)?.since ?? now - checkEveryMs
    stalled.set(socket, { since, lastSeen: now })
    if (now - since >= stalledMsMax || heldBytes > STALLED_BYTES_MAX) socket.destroy()
    else socket.setTimeout(checkEveryMs)
  }

  /** For Node, a client that sends anything makes progress, even if it sends only line breaks. */
  function watchSender(socket: Socket, response: FastifyReply['raw']): void {
    let [read, written] = [socket.bytesRead, socket.bytesWritten]
    const watching = setInterval(() => {
      if (socket.bytesRead !== read && socket.bytesWritten === written) noteStalled(socket)
      read = socket.bytesRead
      written = socket.bytesWritten
      // A response whose turn never came emits no `close`.
      if (socket.destroyed) clearInterval(watching)
    }, checkEveryMs).unref()
    response.once('close', () => clearInterval(watching))
  }

  app.server.on('request', ({ socket }, response) => {
    response.on('timeout', noteStalled)
    response.setTimeout(checkEveryMs)
    watchSender(socket, response)
  })
}

/**
 * Starts a request once the client has read the previous response on the connection. Node would start all pipelined
 * requests at once and keep every response in memory until its turn.
 */
function serveInTurn(app: FastifyInstance): void {
  const queues = new WeakMap<Socket, { waiting: number; last: Promise<void> }>()
  app.addHook('onRequest', async (request, reply) => {
    const { socket } = request.raw
    const queue = queues.get(socket) ?? { waiting: 0, last: Promise.resolve() }
    const before = queue.last
    const { promise, resolve } = Promise.withResolvers<void>()
    queue.last = promise
    queues.set(socket, queue)
    reply.raw.once('close', resolve)
    queue.waiting++
    if (queue.waiting > WAITING_MAX) socket.destroy()
    await before
    queue.waiting--
    if (!socket.destroyed) return
    // The client has disconnected, and a response whose turn never came emits no `close`.
    reply.hijack()
    resolve()
  })
}
