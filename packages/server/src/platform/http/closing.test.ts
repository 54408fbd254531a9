import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { startTestService } from '../../../test/service.ts'

test.each([
  ['nothing', ''],
  ['half a request', 'GET /v1/contacts HTTP/1.1\r\nHost:'],
])('a connection that has sent %s does not keep the service from stopping', async (_what, sent) => {
  const service = await startTestService()
  const accepted = once(service.app.server, 'connection')
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  const ended = once(socket, 'close')
  await accepted
  socket.write(sent)
  await service.close()
  await ended
  expect(socket.destroyed).toBe(true)
})
