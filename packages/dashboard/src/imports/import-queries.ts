import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import { queryString, sendFile } from '../api/client.ts'
import { keyOf, queryOf } from '../api/operation.ts'
import type { ColumnMapping, Import, ImportResult } from '../api/types.ts'

const REFRESH_MS = 1_500

/** Whether the service is working on an import. */
export function isAtWork({ state }: Pick<Import, 'state'>): boolean {
  return state === 'previewing' || state === 'running' || state === 'undoing'
}

/** Rows per page. */
export const IMPORTS_LENGTH = 20

/** One page of the imports, newest first. */
export const importsQuery = (page: number) =>
  queryOptions({
    ...queryOf('listImports', { page, limit: IMPORTS_LENGTH }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.imports.some(isAtWork) ? REFRESH_MS : false),
  })

export const importQuery = (import_id: string) =>
  queryOptions({
    ...queryOf('getImport', { import_id }),
    refetchInterval: ({ state }) => (state.data && isAtWork(state.data.import) ? REFRESH_MS : false),
  })

/** Uploads a file, which the browser reads while it sends it. @param onProgress is given the share sent, from 0 to 1. */
export function uploadImport(file: File, onProgress: (share: number) => void, signal: AbortSignal) {
  const path = `/v1/imports${queryString({ file_name: file.name })}`
  return sendFile<ImportResult>(path, file, 'text/csv', { onProgress, signal })
}

/** Shows a mapping while it is being saved: the page may be left and opened again before there is a response. */
export async function showMapping(queryClient: QueryClient, importId: string, mapping: ColumnMapping[]): Promise<void> {
  const { queryKey } = importQuery(importId)
  await queryClient.cancelQueries({ queryKey, exact: true })
  queryClient.setQueryData(queryKey, (shown) => shown && { ...shown, import: { ...shown.import, mapping } })
}

/** Shows a response at once, and reads the list again. */
export async function showImport(queryClient: QueryClient, response: ImportResult): Promise<void> {
  queryClient.setQueryData(importQuery(response.import.import_id).queryKey, response)
  await queryClient.invalidateQueries({ queryKey: keyOf('listImports') })
}
