import { QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './client.ts'
import { isAway, whenServiceIsBack } from './recovery.ts'

/** @param onSignedOut called when a response says that nobody is signed in. */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  /** Pages that failed because the service was away load as soon as it is back, without a click. */
  const repeatFailed = () =>
    void client.refetchQueries({ type: 'active', predicate: ({ state }) => isAway(state.error) })
  const client = new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (error instanceof ApiError && error.status === 401) onSignedOut()
        if (isAway(error)) whenServiceIsBack(repeatFailed)
      },
    }),
    defaultOptions: {
      queries: {
        // The service may run on this machine, which then needs no network.
        networkMode: 'always',
        // Data that was prefetched on hover is still fresh when the page opens.
        staleTime: 15_000,
        gcTime: 10 * 60_000,
        retry: (failures, error) => failures < 2 && isPassing(error),
      },
      mutations: { networkMode: 'always', retry: false },
    },
  })
  return client
}

/** Whether a retry can help. */
function isPassing(error: Error): boolean {
  return !(error instanceof ApiError) || error.status === 0 || error.status >= 500
}
