import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

export interface FreezingProxy {
  port: number
  /** From now on nothing is forwarded, and whoever connects is accepted and waits. */
  freeze(): void
  /** Forwards again, and what came meanwhile first. */
  thaw(): void
  close(): Promise<void>
}

/** A proxy that can stop without a word, as a frozen server or a cut network does. */
export async function startFreezingProxy(target: NetConnectOpts): Promise<FreezingProxy> {
  const sockets = new Set<Socket>()
  const waiting: (() => void)[] = []
  let frozen = false

  function join(from: Socket, to: Socket): void {
    sockets.add(from)
    if (frozen) from.pause()
    from.on('data', (chunk) => to.write(chunk))
    from.on('error', () => {})
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
  }

  const server = createServer({ pauseOnConnect: true }, (client) => {
    const forward = () => {
      const upstream = connect(target)
      join(client, upstream)
      join(upstream, client)
      client.resume()
    }
    if (frozen) waiting.push(forward)
    else forward()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    freeze: () => {
      frozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw: () => {
      frozen = false
      for (const socket of sockets) socket.resume()
      for (const forward of waiting.splice(0)) forward()
    },
    close: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
