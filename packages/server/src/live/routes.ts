import type { FindApiKey } from '../access/api-key-lookup.ts'
import { isStillAllowed, personOf } from '../access/authentication.ts'
import type { SignedIn } from '../access/sessions.ts'
import { EVERYWHERE } from '../operations/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { errorResponses, fileResponse } from '../platform/http/responses.ts'
import type { Stores } from '../platform/tenant.ts'
import type { LiveFeed } from './feed.ts'
import { type EventStream, keepAlive, openEventStream } from './stream.ts'

const SCOPE = 'events:read'

/** The live feed: events as they are recorded. */
export function liveRoutes(
  app: App,
  {
    live,
    ...dependencies
  }: {
    live: LiveFeed
    stores: Stores
    findApiKey: FindApiKey
    findSession(cookies: string | undefined): Promise<SignedIn | null>
  },
): void {
  const open = new Set<EventStream>()
  // Otherwise shutdown would wait for browsers that never disconnect.
  app.addHook('preClose', async () => {
    for (const stream of open) stream.end()
  })

  app.get(
    '/v1/live',
    {
      config: { access: SCOPE },
      // A HEAD would open a feed that nobody reads and that never ends.
      exposeHeadRoute: false,
      schema: {
        operationId: 'liveEvents',
        tags: ['Events'],
        summary: 'Follow events as they are recorded',
        description:
          'A stream of server-sent events that ends when you close it, or when the key or the session loses its access.',
        response: {
          200: fileResponse('text/event-stream', 'The `data` of each message is an event.'),
          ...errorResponses([...EVERYWHERE, '429 too_many_live_readers']),
        },
      },
    },
    async (request, reply) => {
      const callerId = request.apiKey?.keyId ?? personOf(request).user.id
      const stream = openEventStream()
      const leave = live.read(request.tenant.id, callerId, stream.send)
      const stop = keepAlive(stream, () => isStillAllowed(request, SCOPE, dependencies))
      open.add(stream)
      stream.readable.once('close', () => {
        stop()
        leave()
        open.delete(stream)
      })
      return reply
        .type('text/event-stream; charset=utf-8')
        .headers({ 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' })
        .send(stream.readable)
    },
  )
}
