import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  Connection,
  ConnectionError,
  ConnectionRun,
  Connector,
  CreateConnectionInput,
  SetConnectionWriteBackInput,
  WriteBackProperty,
} from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { Connection, ConnectionError, ConnectionRun, Connector, WriteBackProperty }

/** The credentials that people enter, and the connector's other fields. */
export interface ConnectionInput {
  credentials: Record<string, string>
  settings: Record<string, unknown>
}

/** The polling interval during a pull, and before a due pull. */
const WORKING_MS = 2_000
const WAITING_MS = 15_000
/** Rows per page. */
export const CONNECTIONS_LENGTH = 50
export const RUNS_LENGTH = 10
export const ERRORS_LENGTH = 20

/** Whether a pull is running or about to start. */
export function isAtWork({ state, next_pull_at: next }: Connection): boolean {
  return state === 'pulling' || (state === 'waiting' && next !== null && Date.parse(next) <= Date.now())
}

const interval = (connections: readonly Connection[] | undefined) =>
  connections?.some(isAtWork) ? WORKING_MS : WAITING_MS

export const connectorsQuery = queryOptions({
  queryKey: ['connectors'],
  queryFn: ({ signal }) => call('listConnectors', {}, signal),
  select: ({ connectors }) => connectors,
  staleTime: 5 * 60_000,
})

/** One page of the connected systems, newest first. */
export const connectionsQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['connections', 'list', page, limit],
    queryFn: ({ signal }) => call('listConnections', { page, limit }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => interval(state.data?.connections),
  })

export const connectionQuery = (connection_id: string) =>
  queryOptions({
    queryKey: ['connections', 'one', connection_id],
    queryFn: ({ signal }) => call('getConnection', { connection_id }, signal),
    select: ({ connection }) => connection,
    refetchInterval: ({ state }) => interval(state.data && [state.data.connection]),
  })

/** One page of the runs of a connection, latest first. */
export const connectionRunsQuery = (connection_id: string, page: number) =>
  queryOptions({
    queryKey: ['connections', 'runs', connection_id, page],
    queryFn: ({ signal }) => call('listConnectionRuns', { connection_id, page, limit: RUNS_LENGTH }, signal),
    placeholderData: keepPreviousData,
  })

/** One page of the records that could not be written, latest first. */
export const connectionErrorsQuery = (connection_id: string, page: number) =>
  queryOptions({
    queryKey: ['connections', 'errors', connection_id, page],
    queryFn: ({ signal }) => call('listConnectionErrors', { connection_id, page, limit: ERRORS_LENGTH }, signal),
    placeholderData: keepPreviousData,
  })

export function createConnection(input: CreateConnectionInput) {
  return call('createConnection', input)
}

/** @param input without credentials, the connection keeps its sign-in. */
export function updateConnection(connection_id: string, input: Partial<ConnectionInput>) {
  return call('updateConnection', { connection_id, ...input })
}

export function pauseConnection(connection_id: string) {
  return call('pauseConnection', { connection_id })
}

export function resumeConnection(connection_id: string) {
  return call('resumeConnection', { connection_id })
}

export function pullConnection(connection_id: string) {
  return call('pullConnection', { connection_id })
}

/** @param since a day, or undefined for everything. */
export function rereadConnection(connection_id: string, since: string | undefined) {
  return call('rereadConnection', {
    connection_id,
    ...(since === undefined ? {} : { since }),
  })
}

/** Sets what is written back. An empty list turns write-back off. */
export function setConnectionWriteBack(
  connection_id: string,
  input: Omit<SetConnectionWriteBackInput, 'connection_id'>,
) {
  return call('setConnectionWriteBack', { connection_id, ...input })
}

export function deleteConnection(connection_id: string) {
  return call('deleteConnection', { connection_id })
}

export function refreshConnections(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['connections'] })
}
