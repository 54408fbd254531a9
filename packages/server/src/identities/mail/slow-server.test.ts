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
 * Makes half a minute take a second. All other timers are left alone: under fake ones, the worker's shared service would
 * stop asking its databases, and take them for dead.
 */
function shortenHalfMinutes(): void {
  const { setTimeout } = globalThis
  const shortened = (work: () => void, ms?: number, ...given: []) =>
    setTimeout(work, ms === 30_000 ? 1_000 : ms, ...given)
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(shortened as typeof setTimeout)
}

/** Greets as it should, and then says a line now and then, so that it is never silent and never done. */
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

test('a server that keeps talking and lets nobody in is left after half a minute', async () => {
  const smtp = await startTalker('220 hello', '250-still thinking')
  const imap = await startTalker('* OK hello', '* OK still thinking')
  shortenHalfMinutes()
  const talking = setInterval(() => {
    for (const [socket, line] of sockets) if (socket.writable) socket.write(`${line}\r\n`)
  }, 20)
  const failures = await checkLogin(createConnector({ allowPrivate: true }), { smtp, imap })
  clearInterval(talking)
  const message = 'the server took more than 30 seconds to let us in'
  expect(failures).toEqual([
    { path: 'smtp', message },
    { path: 'imap', message },
  ])
})
