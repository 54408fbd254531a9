import { queryOptions } from '@tanstack/react-query'
import { call, type Result } from '../../api/client.ts'
import { keyOf } from '../../api/operation.ts'
import { setTimeZone } from '../../session/time-zone.ts'

export type SharedView = Result<'readShared'>
export type SharedTile = SharedView['tiles'][number]
export type SharedReport = NonNullable<SharedTile['report']>

/** The figures are computed once a minute. */
const FRESH_MS = 60_000

/** What a link shows, read again each minute while the page is visible. */
export function sharedQuery(token: string) {
  return queryOptions<SharedView>({
    queryKey: keyOf('readShared', { token }),
    queryFn: async ({ signal }) => {
      const view = await call('readShared', { token }, signal)
      setTimeZone(view.time_zone)
      return view
    },
    staleTime: FRESH_MS,
    refetchInterval: FRESH_MS,
  })
}
