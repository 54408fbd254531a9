import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  ColumnMapping,
  Import,
  ImportCounts,
  ImportResult,
  KeptContact,
  ListedImport,
  PreviewedRow,
} from '../../../client/src/generated/types.gen.ts'
import { call, queryString, sendFile } from './client.ts'

/** How a file is read. */
export type ImportFormat = Partial<Pick<Import, 'encoding' | 'delimiter' | 'header_line'>> & { use_remembered?: false }

export type { ColumnMapping, Import, ImportCounts, KeptContact, ListedImport, PreviewedRow }

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
    queryFn: ({ signal }) => call('listImports', { page, limit }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.imports.some(isAtWork) ? REFRESH_MS : false),
  })

export const importQuery = (import_id: string) =>
  queryOptions({
    queryKey: ['imports', 'one', import_id],
    queryFn: ({ signal }) => call('getImport', { import_id }, signal),
    select: (response) => response.import,
    refetchInterval: ({ state }) => (state.data && isAtWork(state.data.import) ? REFRESH_MS : false),
  })

/** What an import would do. Only for one whose preview is ready. */
export const previewQuery = (import_id: string) =>
  queryOptions({
    queryKey: ['imports', 'one', import_id, 'preview'],
    queryFn: ({ signal }) => call('getImportPreview', { import_id }, signal),
    gcTime: 0,
  })

/** One page of the contacts that undoing an import kept. */
export const keptQuery = (import_id: string, page: number, limit: number) =>
  queryOptions({
    queryKey: ['imports', 'one', import_id, 'kept', page, limit],
    queryFn: ({ signal }) => call('listKeptContacts', { import_id, page, limit }, signal),
    placeholderData: keepPreviousData,
  })

/** Uploads a file, which the browser reads while it sends it. @param onProgress is given the share sent, from 0 to 1. */
export function uploadImport(file: File, onProgress: (share: number) => void, signal: AbortSignal) {
  const path = `/v1/imports${queryString({ file_name: file.name })}`
  return sendFile<ImportResult>(path, file, 'text/csv', { onProgress, signal })
}

export function setImportMapping(import_id: string, columns: ColumnMapping[]) {
  return call('setImportMapping', { import_id, columns })
}

/** Shows a mapping while it is being saved: the page may be left and opened again before there is a response. */
export async function showMapping(queryClient: QueryClient, importId: string, mapping: ColumnMapping[]): Promise<void> {
  const { queryKey } = importQuery(importId)
  await queryClient.cancelQueries({ queryKey, exact: true })
  queryClient.setQueryData(queryKey, (shown) => shown && { ...shown, import: { ...shown.import, mapping } })
}

/** Reads the file again with another format. Omitted fields are detected again, except the encoding. */
export function setImportFormat(import_id: string, format: ImportFormat) {
  return call('setImportFormat', { import_id, ...format })
}

export function askOfImport(import_id: string, action: 'previewImport' | 'cancelImport' | 'undoImport') {
  return call(action, { import_id })
}

/** Starts an import. @param tag what its contacts are tagged with; '' for nothing. */
export function startImport(import_id: string, tag = '') {
  return call('startImport', { import_id, ...(tag === '' ? {} : { tag }) })
}

/** Shows a response at once, and reads the list again. */
export async function showImport(queryClient: QueryClient, response: ImportResult): Promise<void> {
  queryClient.setQueryData(importQuery(response.import.import_id).queryKey, response)
  await queryClient.invalidateQueries({ queryKey: ['imports', 'list'] })
}
