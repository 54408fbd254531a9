import { expect, test } from 'vitest'
import { sharedService } from '../../../test/service.ts'
import { newId } from '../ids.ts'
import { uuidArray } from './uuid-array.ts'

test.each([0, 1, 3, 5_000])('%i UUIDs arrive in PostgreSQL as they were, in order', async (count) => {
  const { postgres } = await sharedService()
  const ids = Array.from({ length: count }, newId)
  const { rows } = await postgres.pool.query<{ ids: string[]; count: number }>(
    'SELECT $1::uuid[]::text[] AS ids, cardinality($1::uuid[]) AS count',
    [uuidArray(ids)],
  )
  expect(rows).toEqual([{ ids, count }])
})

test('what is no UUID is refused before it is sent', () => {
  expect(() => uuidArray([newId(), 'not-a-uuid'])).toThrow('not a UUID')
})
