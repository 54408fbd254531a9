/** POSTs the same bytes repeatedly with undici alone; prints requests per second. */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'undici'

const [url = '', file = '', connections = '1', seconds = '1'] = process.argv.slice(2)
const { headers, body } = JSON.parse(readFileSync(file, 'utf8')) as { headers: Record<string, string>; body: string }
const bytes = Buffer.from(body)
const dispatcher = new Agent({ connections: Number(connections), pipelining: 1, allowH2: false })
let sent = 0
let startedAt = performance.now()
const send = async (until: number) => {
  while (performance.now() < until) {
    const response = await request(url, { method: 'POST', headers, body: bytes, dispatcher })
    await response.body.dump()
    sent++
  }
}
const sendAll = (milliseconds: number) => {
  const until = performance.now() + milliseconds
  return Promise.all(Array.from({ length: Number(connections) }, () => send(until)))
}
// Connections are opened before the clock starts.
await sendAll(500)
sent = 0
startedAt = performance.now()
await sendAll(Number(seconds) * 1000)
console.log(`${sent / ((performance.now() - startedAt) / 1000)} requests/s`)
process.exit(0)
