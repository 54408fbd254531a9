import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type * as objects from '../../../server/src/connectors/connection-object.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, send } from './client.ts'

export type Connector = Type.Static<typeof objects.ConnectorDescription>
export type Connection = Type.Static<typeof objects.Connection>
export type ConnectionRun = Type.Static<typeof objects.ConnectionRun>
export type WriteBackProperty = Type.Static<typeof objects.WriteBackProperty>
export type ConnectionError = Type.Static<typeof objects.ConnectionError>
type Paged = { pagination: Type.Static<typeof Pagination> }

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
  queryFn: ({ signal }) => get<{ connectors: Connector[] }>('/v1/connectors', {}, signal),
  select: ({ connectors }) => connectors,
  staleTime: 5 * 60_000,
})

/** One page of the connected systems, newest first. */
export const connectionsQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['connections', 'list', page, limit],
    queryFn: ({ signal }) => get<{ connections: Connection[] } & Paged>('/v1/connections', { page, limit }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => interval(state.data?.connections),
  })

export const connectionQuery = (id: string) =>
  queryOptions({
    queryKey: ['connections', 'one', id],
    queryFn: ({ signal }) => get<{ connection: Connection }>(pathOf(id), {}, signal),
    select: ({ connection }) => connection,
    refetchInterval: ({ state }) => interval(state.data && [state.data.connection]),
  })

/** One page of the runs of a connection, latest first. */
export const connectionRunsQuery = (id: string, page: number) =>
  queryOptions({
    queryKey: ['connections', 'runs', id, page],
    queryFn: ({ signal }) =>
      get<{ runs: ConnectionRun[] } & Paged>(`${pathOf(id)}/runs`, { page, limit: RUNS_LENGTH }, signal),
    placeholderData: keepPreviousData,
  })

/** One page of the records that could not be written, latest first. */
export const connectionErrorsQuery = (id: string, page: number) =>
  queryOptions({
    queryKey: ['connections', 'errors', id, page],
    queryFn: ({ signal }) =>
      get<{ errors: ConnectionError[] } & Paged>(`${pathOf(id)}/errors`, { page, limit: ERRORS_LENGTH }, signal),
    placeholderData: keepPreviousData,
  })

export function createConnection(input: ConnectionInput & { connector: string; source: string; read_since?: string }) {
  return send<{ connection: Connection }>('POST', '/v1/connections', input)
}

/** @param input without credentials, the connection keeps its sign-in. */
export function updateConnection(id: string, input: Partial<ConnectionInput>) {
  return send<{ connection: Connection }>('PATCH', pathOf(id), input)
}

export function pauseConnection(id: string) {
  return send('POST', `${pathOf(id)}/pause`)
}

export function resumeConnection(id: string) {
  return send('POST', `${pathOf(id)}/resume`)
}

export function pullConnection(id: string) {
  return send('POST', `${pathOf(id)}/pull`)
}

/** @param since a day, or undefined for everything. */
export function rereadConnection(id: string, since: string | undefined) {
  return send('POST', `${pathOf(id)}/reread`, since === undefined ? {} : { since })
}

/** Sets what is written back. An empty list turns write-back off. */
export function setWriteBack(id: string, input: { properties: WriteBackProperty[]; create_missing: boolean }) {
  return send('PUT', `${pathOf(id)}/write-back`, input)
}

export function deleteConnection(id: string) {
  return send('DELETE', pathOf(id))
}

export function refreshConnections(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['connections'] })
}

function pathOf(id: string): string {
  return `/v1/connections/${encodeURIComponent(id)}`
}
