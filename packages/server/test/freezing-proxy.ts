import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

export interface FreezingProxy {
  port: number
  /** Stops forwarding. New connections are accepted and wait. */
  freeze(): void
  /** Freezes at the next statement that contains a text. The statement is still forwarded, or it is lost. */
  freezeAt(text: string, isForwarded: boolean): void
  /** Freezes at the COMMIT of the transaction that sends a text. The COMMIT is still forwarded, or it is lost. */
  freezeAtCommitOf(text: string, isForwarded: boolean): void
  isFrozen(): boolean
  /** Forwards again, starting with the data that has arrived meanwhile. */
  thaw(): void
  close(): Promise<void>
}

/** COMMIT in PostgreSQL's protocol. */
const COMMIT = /^Q.{4}commit\0/is

/** A proxy that can stop silently, like a frozen server or a broken network. */
export async function startFreezingProxy(target: NetConnectOpts): Promise<FreezingProxy> {
  const sockets = new Set<Socket>()
  const waiting: (() => void)[] = []
  let frozen = false
  let trap: { text: string; isForwarded: boolean; atCommit: boolean; client?: Socket } | null = null

  function freeze(): void {
    frozen = true
    trap = null
    for (const socket of sockets) socket.pause()
  }

  function keep(socket: Socket): void {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }

  function join(from: Socket, to: Socket, isClient: boolean): void {
    if (frozen) from.pause()
    from.on('data', (chunk: Buffer) => {
      if (isClient && trap && chunk.includes(trap.text)) trap.client = from
      const isTrapped = trap?.client === from && (!trap.atCommit || COMMIT.test(chunk.toString('latin1')))
      if (!isTrapped || trap?.isForwarded) to.write(chunk)
      if (isTrapped) freeze()
    })
    from.on('close', () => to.destroy())
  }

  const server = createServer({ pauseOnConnect: true }, (client) => {
    keep(client)
    const forward = () => {
      if (client.destroyed) return
      const upstream = connect(target)
      keep(upstream)
      join(client, upstream, true)
      join(upstream, client, false)
      client.resume()
    }
    if (frozen) waiting.push(forward)
    else forward()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    freeze,
    freezeAt: (text, isForwarded) => {
      trap = { text, isForwarded, atCommit: false }
    },
    freezeAtCommitOf: (text, isForwarded) => {
      trap = { text, isForwarded, atCommit: true }
    },
    isFrozen: () => frozen,
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
