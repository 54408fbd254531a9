import { type QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { call, type Input, type Result, readWithVersion } from '../../api/client.ts'
import { keyOf, refreshAfter } from '../../api/operation.ts'
import type { Dashboard } from '../../api/types.ts'

/** A dashboard as it was read: it is changed only if it is still the same. */
export interface ReadDashboard {
  dashboard: Dashboard
  /** The mail that one gets on Mondays. */
  subscription: Result<'getDashboard'>['subscription']
  version: string | null
}

export function dashboardQuery(dashboardId: string) {
  return queryOptions({
    queryKey: keyOf('getDashboard', { dashboard_id: dashboardId }),
    queryFn: () => readDashboard(dashboardId),
  })
}

export async function readDashboard(dashboardId: string): Promise<ReadDashboard> {
  const { result, version } = await readWithVersion('getDashboard', { dashboard_id: dashboardId })
  return { ...result, version }
}

type Changes = Omit<Input<'updateDashboard'>, 'dashboard_id'>

/** Changes a dashboard. @throws ApiError 412 if it has changed since it was read. */
export async function saveDashboard(
  queryClient: QueryClient,
  { dashboard: { dashboard_id }, version }: Pick<ReadDashboard, 'dashboard' | 'version'>,
  changes: Changes,
): Promise<Result<'updateDashboard'>> {
  const saved = await call('updateDashboard', { dashboard_id, ...changes }, undefined, version)
  await refreshAfter(queryClient, 'updateDashboard')
  return saved
}

export function useSaving(read: ReadDashboard, onDone: () => unknown) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (changes: Changes) => saveDashboard(queryClient, read, changes),
    onSuccess: () => onDone(),
  })
}
