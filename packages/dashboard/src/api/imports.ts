import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { Counts, Import, ListedImport } from '../../../server/src/imports/import-object.ts'
import type { ColumnMapping } from '../../../server/src/imports/mapping.ts'
import type { PreviewedRow } from '../../../server/src/imports/preview.ts'
import type { KeptContact } from '../../../server/src/imports/undo.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, queryString, send, sendFile } from './client.ts'

export type { ColumnMapping, Counts, Import, KeptContact, ListedImport, PreviewedRow }

const REFRESH_MS = 1_500

/** Whether the service is working on an import. */
export function isAtWork({ state }: Pick<Import, 'state'>): boolean {
  return state === 'previewing' || state === 'running' || state === 'undoing'
}

/** Rows per page. */
export const IMPORTS_LENGTH = 20

/** One page of the imports, newest first. */
export const importsQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['imports', 'list', page, limit],
    queryFn: ({ signal }) =>
      get<{ imports: ListedImport[]; pagination: Type.Static<typeof Pagination> }>(
        '/v1/imports',
        { page, limit },
        signal,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.imports.some(isAtWork) ? REFRESH_MS : false),
  })

export const importQuery = (importId: string) =>
  queryOptions({
    queryKey: ['imports', 'one', importId],
    queryFn: ({ signal }) => get<{ import: Import }>(pathOf(importId), {}, signal),
    select: (answer) => answer.import,
    refetchInterval: ({ state }) => (state.data && isAtWork(state.data.import) ? REFRESH_MS : false),
  })

/** What an import would do. Only for one whose preview is ready. */
export const previewQuery = (importId: string) =>
  queryOptions({
    queryKey: ['imports', 'one', importId, 'preview'],
    queryFn: ({ signal }) => get<{ counts: Counts; rows: PreviewedRow[] }>(`${pathOf(importId)}/preview`, {}, signal),
    gcTime: 0,
  })

/** One page of the contacts that undoing an import kept. */
export const keptQuery = (importId: string, page: number, limit: number) =>
  queryOptions({
    queryKey: ['imports', 'one', importId, 'kept', page, limit],
    queryFn: ({ signal }) =>
      get<{ contacts: KeptContact[]; pagination: Type.Static<typeof Pagination> }>(
        `${pathOf(importId)}/kept`,
        { page, limit },
        signal,
      ),
    placeholderData: keepPreviousData,
  })

/** Uploads a file, which the browser reads while it sends it. @param onProgress is given the share sent, from 0 to 1. */
export async function uploadImport(file: File, onProgress: (share: number) => void, signal: AbortSignal) {
  const path = `/v1/imports${queryString({ file_name: file.name })}`
  return (await sendFile<{ import: Import }>(path, file, 'text/csv', { onProgress, signal })).import
}

export function setImportMapping(importId: string, columns: readonly ColumnMapping[]) {
  return send<{ import: Import }>('PUT', `${pathOf(importId)}/mapping`, { columns })
}

export function askOfImport(importId: string, action: 'preview' | 'start' | 'cancel' | 'undo') {
  return send<{ import: Import }>('POST', `${pathOf(importId)}/${action}`)
}

/** Shows an answer at once, and reads the list again. */
export async function showImport(queryClient: QueryClient, answer: { import: Import }): Promise<void> {
  queryClient.setQueryData(importQuery(answer.import.import_id).queryKey, { import: answer.import })
  await queryClient.invalidateQueries({ queryKey: ['imports', 'list'] })
}

function pathOf(importId: string): string {
  return `/v1/imports/${encodeURIComponent(importId)}`
}
