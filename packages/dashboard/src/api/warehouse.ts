import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  CreateWarehouseDestinationInput,
  UpdateWarehouseDestinationInput,
  WarehouseDestination,
  WarehouseRun,
} from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { WarehouseDestination, WarehouseRun }

/** A tenant's limit. */
const ALL = { limit: 20 }
/** Runs per page. */
export const RUNS_LENGTH = 20

export const destinationsQuery = queryOptions({
  queryKey: ['warehouse', 'list'],
  queryFn: ({ signal }) => call('GET /v1/warehouse', ALL, signal),
})

export const destinationQuery = (destination_id: string) =>
  queryOptions({
    queryKey: ['warehouse', 'one', destination_id],
    queryFn: ({ signal }) => call('GET /v1/warehouse/{destination_id}', { destination_id }, signal),
    select: ({ destination }) => destination,
  })

export const runsQuery = (destination_id: string, page: number) =>
  queryOptions({
    queryKey: ['warehouse', 'runs', destination_id, page],
    queryFn: ({ signal }) =>
      call('GET /v1/warehouse/{destination_id}/runs', { destination_id, page, limit: RUNS_LENGTH }, signal),
    placeholderData: keepPreviousData,
  })

export function createWarehouseDestination(destination: CreateWarehouseDestinationInput) {
  return call('POST /v1/warehouse', destination)
}

export function updateWarehouseDestination(
  destination_id: string,
  changes: Omit<UpdateWarehouseDestinationInput, 'destination_id'>,
) {
  return call('PATCH /v1/warehouse/{destination_id}', { destination_id, ...changes })
}

export function deleteWarehouseDestination(destination_id: string) {
  return call('DELETE /v1/warehouse/{destination_id}', { destination_id })
}

/** Starts a run. @param full exports all events again. */
export function runWarehouseExport(destination_id: string, full = false) {
  return call('POST /v1/warehouse/{destination_id}/run', { destination_id, full })
}

export function setPaused(destination_id: string, isPaused: boolean) {
  return call(`POST /v1/warehouse/{destination_id}/${isPaused ? 'pause' : 'resume'}`, { destination_id })
}

export function testWarehouseDestination(destination_id: string) {
  return call('POST /v1/warehouse/{destination_id}/test', { destination_id })
}

export function refreshWarehouse(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['warehouse'] })
}
