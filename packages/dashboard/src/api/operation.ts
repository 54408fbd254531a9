import { type QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { call, type Input, type OperationName, type Result } from './client.ts'
import { PATHS } from './generated/paths.ts'

/** A call's input; none is needed where every parameter is optional. */
type Given<Name extends OperationName> =
  Record<never, never> extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>]

/**
 * The query of an operation that reads, for `useQuery` and for loading ahead:
 * `useQuery({ ...queryOf('getHook', { hook_id }), select: ({ hook }) => hook })`.
 * A page of a list stays visible while the next one of the same list loads.
 */
export function queryOf<Name extends OperationName>(name: Name, ...[input]: Given<Name>) {
  return queryOptions<Result<Name>>({
    queryKey: keyOf(name, input),
    queryFn: ({ signal }) => call(name, input ?? ({} as Input<Name>), signal),
    placeholderData: name.startsWith('list') ? keepPageOf(name, input) : undefined,
    ...(LASTING.has(name) ? { staleTime: 5 * 60_000 } : {}),
  })
}

/** Keeps the rows that are shown, unless they are those of another thing: another contact's notes, another webhook's deliveries. */
function keepPageOf(name: OperationName, input: object = {}) {
  return <Data>(shown: Data | undefined, query?: { queryKey: readonly unknown[] }): Data | undefined =>
    placeOf(name, query?.queryKey[2] ?? {}) === placeOf(name, input) ? shown : undefined
}

/** The values that an input puts into the operation's path. */
function placeOf(name: OperationName, input: object): string {
  const values = new Map(Object.entries(input))
  return [...PATHS[name].matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => values.get(parameter)).join('/')
}

/** What changes only with the service's version or configuration. */
const LASTING: ReadonlySet<OperationName> = new Set([
  'getAskModel',
  'listConnectors',
  'listPlaybooks',
  'listWebhookEventTypes',
])

/** The key of an operation's query; without an input, what the keys of all its queries begin with. */
export function keyOf(name: OperationName, input?: object): readonly unknown[] {
  return input === undefined ? [kindOf(name), name] : [kindOf(name), name, input]
}

/** What an operation is about: the first part of its path, such as `hooks`. */
function kindOf(name: OperationName): string {
  return PATHS[name].split('/')[2] ?? ''
}

/** The kinds of things that depend on another kind. */
const FOLLOWING: Readonly<Record<string, readonly string[]>> = {
  agents: ['approvals', 'contacts'],
  approvals: ['agents', 'contacts'],
  companies: ['contacts', 'properties', 'segments'],
  contacts: ['companies', 'duplicates', 'events', 'properties', 'segments', 'timeline', 'visits'],
  domains: ['tracker', 'events', 'overview'],
  enrichment: ['contacts', 'companies', 'properties', 'segments'],
  erasures: ['contacts', 'companies', 'events', 'properties', 'segments', 'timeline', 'visits'],
  imports: ['contacts', 'companies', 'properties', 'segments'],
  invitations: ['members'],
  members: ['invitations'],
  segments: ['contacts'],
  tenant: ['me', 'personal-properties'],
}

/**
 * Refetches what an operation may have changed: everything of its kind, and the kinds that depend on it. Queries that no
 * page shows are only marked as stale.
 */
export async function refreshAfter(queryClient: QueryClient, name: OperationName): Promise<void> {
  const kind = kindOf(name)
  await Promise.all(
    [kind, ...(FOLLOWING[kind] ?? [])].map((each) => queryClient.invalidateQueries({ queryKey: [each] })),
  )
}

interface Outcome<Name extends OperationName> {
  /**
   * Called once what the operation changed has been refetched. After a deletion or a merge it is called before that, so
   * that it can leave the page of the thing that no longer exists, which would return 404.
   */
  onDone?: (result: Result<Name>, input: Input<Name>) => unknown
  onError?: (error: Error) => unknown
}

/** Calls an operation that changes something: `useOperation('updateHook', { onDone: close }).mutate({ hook_id, name })`. */
export function useOperation<Name extends OperationName>(name: Name, { onDone, onError }: Outcome<Name> = {}) {
  const queryClient = useQueryClient()
  return useMutation<Result<Name>, Error, Input<Name>>({
    mutationFn: (input) => call(name, input),
    onSuccess: async (result, input) => {
      const isGone = PATHS[name].startsWith('DELETE ') || name === 'mergeContact'
      if (isGone) await onDone?.(result, input)
      await refreshAfter(queryClient, name)
      if (!isGone) await onDone?.(result, input)
    },
    ...(onError === undefined ? {} : { onError }),
  })
}
