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
  queryFn: ({ signal }) => call('listWarehouseDestinations', ALL, signal),
})

export const destinationQuery = (destination_id: string) =>
  queryOptions({
    queryKey: ['warehouse', 'one', destination_id],
    queryFn: ({ signal }) => call('getWarehouseDestination', { destination_id }, signal),
    select: ({ destination }) => destination,
  })

export const runsQuery = (destination_id: string, page: number) =>
  queryOptions({
    queryKey: ['warehouse', 'runs', destination_id, page],
    queryFn: ({ signal }) => call('listWarehouseRuns', { destination_id, page, limit: RUNS_LENGTH }, signal),
    placeholderData: keepPreviousData,
  })

export function createWarehouseDestination(destination: CreateWarehouseDestinationInput) {
  return call('createWarehouseDestination', destination)
}

export function updateWarehouseDestination(
  destination_id: string,
  changes: Omit<UpdateWarehouseDestinationInput, 'destination_id'>,
) {
  return call('updateWarehouseDestination', { destination_id, ...changes })
}

export function deleteWarehouseDestination(destination_id: string) {
  return call('deleteWarehouseDestination', { destination_id })
}

/** Starts a run. @param full exports all events again. */
export function runWarehouseExport(destination_id: string, full = false) {
  return call('runWarehouseExport', { destination_id, full })
}

export function setPaused(destination_id: string, isPaused: boolean) {
  return call(isPaused ? 'pauseWarehouseDestination' : 'resumeWarehouseDestination', { destination_id })
}

export function testWarehouseDestination(destination_id: string) {
  return call('testWarehouseDestination', { destination_id })
}

export function refreshWarehouse(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['warehouse'] })
}
