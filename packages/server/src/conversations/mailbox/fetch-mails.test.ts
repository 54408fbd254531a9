import type { ImapFlow } from 'imapflow'
import { expect, test } from 'vitest'
import { fetchMails } from './fetch-mails.ts'

test('a report counts with its full size, so a batch never contains two large ones', async () => {
  const found = Array.from({ length: 25 }, (_, index) => ({
    uid: index + 1,
    size: 20 * 1024 * 1024,
    bodyStructure: { type: 'multipart/report' },
  }))
  const client = {
    usable: true,
    fetchAll: async () => found,
    fetchOne: async (uid: string) => ({ uid: Number(uid), source: Buffer.from('mail') }),
  } as unknown as ImapFlow
  const batches: number[][] = []
  for await (const batch of fetchMails(
    client,
    found.map(({ uid }) => uid),
  )) {
    batches.push(batch.map(({ uid }) => uid))
  }
  expect(batches).toEqual(found.map(({ uid }) => [uid]))
})
