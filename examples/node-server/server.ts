import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { CustomerData, CustomerDataError, Tracker, verifyWebhook, WebhookError } from '@customer-data-service/client'

const { CDS_URL = 'http://localhost:8080', CDS_KEY = '', WEBHOOK_SECRET = '', PORT = '4002' } = process.env
const client = new CustomerData({ url: CDS_URL, apiKey: CDS_KEY })
const tracker = new Tracker({ url: CDS_URL, apiKey: CDS_KEY })

/** What a request is answered with. */
type Handler = (request: IncomingMessage) => Promise<object>

const ROUTES: Record<string, Handler> = {
  // The visitor's id comes from the cookie service_visitor_id: what they did before signing up becomes theirs.
  'POST /sign-up': async (request) => {
    const { user_id, email } = JSON.parse(await text(request))
    const visitor = /(?:^|; )service_visitor_id=([^;]+)/.exec(request.headers.cookie ?? '')?.[1]
    const { contact_id, created } = await client.identify({
      user_id,
      email,
      properties: { plan: 'free' },
      ...(visitor ? { visitor_id: visitor } : {}),
    })
    return { contact_id, created }
  },
  // The tracker sends in the background, so the order does not wait for it.
  'POST /orders': async (request) => {
    const { user_id, total } = JSON.parse(await text(request))
    tracker.track({ event: 'order_placed', user_id, data: { total } })
    return { ordered: true }
  },
  'POST /hooks': async (request) => {
    const body = await text(request)
    const { event, data } = await verifyWebhook({ body, headers: request.headers, secret: WEBHOOK_SECRET })
    console.log(`webhook: ${event} of ${data.contact?.email ?? 'an anonymous visitor'}`)
    return { received: true }
  },
}

const server = createServer(async (request, response) => {
  response.setHeader('content-type', 'application/json')
  const handler = ROUTES[`${request.method} ${request.url}`]
  if (!handler) return response.writeHead(404).end('{"error":"There is no such route."}')
  try {
    response.end(JSON.stringify(await handler(request)))
  } catch (error) {
    const isCallers =
      error instanceof WebhookError || error instanceof CustomerDataError || error instanceof SyntaxError
    if (!isCallers) console.error(error)
    response.writeHead(isCallers ? 400 : 500).end(JSON.stringify({ error: isCallers ? error.message : 'internal' }))
  }
})
server.listen(Number(PORT), () => {
  console.log(`The server is at http://localhost:${(server.address() as AddressInfo).port}`)
})

// A signal ends a process at once, so what waits is sent first.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await tracker.close()
    process.exit(0)
  })
}
