import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import type { WarehouseDestination, WarehouseRun } from '../../../server/src/warehouse/destination.ts'
import { get, send } from './client.ts'

export type { WarehouseDestination, WarehouseRun }

export interface NewDestination {
  name: string
  type: WarehouseDestination['type']
  prefix: string
  schedule: string | null
  time_zone: string
  endpoint?: string
  region?: string
  bucket?: string
  access_key_id?: string
  secret_access_key?: string
}

export type DestinationChanges = Partial<
  Pick<NewDestination, 'name' | 'schedule' | 'time_zone' | 'access_key_id' | 'secret_access_key'>
>

type Paged = Type.Static<typeof Pagination>

/** A tenant's limit. */
const ALL = { limit: 20 }
/** Runs per page. */
export const RUNS_LENGTH = 20

export const destinationsQuery = queryOptions({
  queryKey: ['warehouse', 'list'],
  queryFn: ({ signal }) =>
    get<{ destinations: WarehouseDestination[]; has_folders: boolean }>('/v1/warehouse', ALL, signal),
})

export const destinationQuery = (id: string) =>
  queryOptions({
    queryKey: ['warehouse', 'one', id],
    queryFn: ({ signal }) => get<{ destination: WarehouseDestination }>(path(id), {}, signal),
    select: ({ destination }) => destination,
  })

export const runsQuery = (id: string, page: number) =>
  queryOptions({
    queryKey: ['warehouse', 'runs', id, page],
    queryFn: ({ signal }) =>
      get<{ runs: WarehouseRun[]; pagination: Paged }>(`${path(id)}/runs`, { page, limit: RUNS_LENGTH }, signal),
    placeholderData: keepPreviousData,
  })

export function createDestination(destination: NewDestination) {
  return send<{ destination: WarehouseDestination }>('POST', '/v1/warehouse', destination)
}

export function updateDestination(id: string, changes: DestinationChanges) {
  return send('PATCH', path(id), changes)
}

export function deleteDestination(id: string) {
  return send('DELETE', path(id))
}

/** Starts a run. @param full exports all events again. */
export function startRun(id: string, full = false) {
  return send<{ run_id: string; is_new: boolean }>('POST', `${path(id)}/run`, { full })
}

export function setPaused(id: string, isPaused: boolean) {
  return send('POST', `${path(id)}/${isPaused ? 'pause' : 'resume'}`)
}

export function testDestination(id: string) {
  return send('POST', `${path(id)}/test`)
}

export function refreshWarehouse(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['warehouse'] })
}

function path(id: string): string {
  return `/v1/warehouse/${encodeURIComponent(id)}`
}
