import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { connectClickHouse } from './connect.ts'

test.each([null, 'main'])(
  "insertions are never asynchronous, whatever the server's defaults (cluster: %s)",
  async (cluster) => {
    const insertions: (string | null)[] = []
    const server = createServer(({ url = '' }, response) => {
      const query = new URL(url, 'http://localhost').searchParams.get('query')
      if (query?.startsWith('INSERT')) insertions.push(query)
      response.end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const clickhouse = await connectClickHouse({ url: `http://127.0.0.1:${port}`, cluster })
    try {
      await clickhouse.insert('events', 'JSONEachRow', '{}', 'a token')
      expect(insertions).toEqual([
        expect.stringMatching(/SETTINGS insert_deduplication_token = 'a token', async_insert = 0,/),
      ])
    } finally {
      await clickhouse.close()
      server.close().closeAllConnections()
    }
  },
)
