import Fastify from 'fastify'

/** The limit of the HTTP layer: parses the same bodies and stores nothing. */
const app = Fastify({ bodyLimit: 1024 * 1024 })
for (const path of ['/track', '/v1/events']) {
  app.post(path, async (request) => ({
    status: 'success',
    accepted: (request.body as { events: unknown[] }).events.length,
  }))
}
app.post('/v1/batch', async (request) => ({
  success: (request.body as { batch: unknown[] }).batch.length > 0,
}))
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log('ready')
process.on('SIGTERM', () => process.exit(0))
