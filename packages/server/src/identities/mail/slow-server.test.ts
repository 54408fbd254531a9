import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { createConnector } from '../../platform/outbound/connect.ts'
import { checkLogin } from './check-login.ts'

const servers: Server[] = []
const sockets = new Map<Socket, string>()

afterEach(() => {
  vi.restoreAllMocks()
  for (const socket of sockets.keys()) socket.destroy()
  for (const server of servers.splice(0)) server.close()
})

/**
 * Shortens 30-second timers to one second. Other timers stay real: with fake timers, the worker's shared service would
 * stop its health checks and assume that its databases are down.
 */
function shortenHalfMinutes(): void {
  const { setTimeout } = globalThis
  const shortened = (work: () => void, ms?: number, ...given: []) =>
    setTimeout(work, ms === 30_000 ? 1_000 : ms, ...given)
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(shortened as typeof setTimeout)
}

/** A server that sends a valid greeting and then a partial reply from time to time. */
async function startTalker(greeting: string, line: string) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write(`${greeting}\r\n`)
    socket.once('data', () => sockets.set(socket, line))
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { host: '127.0.0.1', port, security: 'none', login: { user: 'ada', password: 'secret' } } as const
}

test('a login that a server keeps delaying is given up after 30 seconds', async () => {
  const smtp = await startTalker('220 hello', '250-still thinking')
  const imap = await startTalker('* OK hello', '* OK still thinking')
  shortenHalfMinutes()
  const talking = setInterval(() => {
    for (const [socket, line] of sockets) if (socket.writable) socket.write(`${line}\r\n`)
  }, 20)
  const failures = await checkLogin(createConnector({ allowPrivate: true }), { smtp, imap })
  clearInterval(talking)
  const message = 'the server did not complete the login within 30 seconds'
  expect(failures).toEqual([
    { path: 'smtp', message },
    { path: 'imap', message },
  ])
})
