import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { Mapped } from '../../../server/src/hooks/apply-mapping.ts'
import type { HookBody } from '../../../server/src/hooks/bodies.ts'
import type { Hook } from '../../../server/src/hooks/hook-object.ts'
import type { Field, Mapping } from '../../../server/src/hooks/mapping.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, send } from './client.ts'

export type { Field, Hook, HookBody, Mapping }

export interface NewHook {
  name: string
  kind: Hook['kind']
  signing_secret?: string
  signature_header?: string
}

/** What a mapping would make of a body. */
export interface HookPreview extends Mapped {
  state: 'recorded' | 'skipped' | 'failed'
  error: { code: string; message: string; details: { path: string; message: string }[] } | null
}

/** A tenant's limit. */
const ALL = { limit: 50 }
/** All that are kept. */
export const BODIES_LENGTH = 50

export const hooksQuery = queryOptions({
  queryKey: ['hooks', 'list'],
  queryFn: ({ signal }) => get<{ hooks: Hook[] }>('/v1/hooks', ALL, signal),
  select: ({ hooks }) => hooks,
})

export const hookQuery = (id: string) =>
  queryOptions({
    queryKey: ['hooks', 'one', id],
    queryFn: ({ signal }) => get<{ hook: Hook }>(path(id), {}, signal),
    select: ({ hook }) => hook,
  })

export const hookBodiesQuery = (id: string) =>
  queryOptions({
    queryKey: ['hooks', 'bodies', id],
    queryFn: ({ signal }) =>
      get<{ bodies: HookBody[]; pagination: Type.Static<typeof Pagination> }>(
        `${path(id)}/bodies`,
        { limit: BODIES_LENGTH },
        signal,
      ),
    select: ({ bodies }) => bodies,
  })

export const hookBodyQuery = (id: string, bodyId: string) =>
  queryOptions({
    queryKey: ['hooks', 'body', id, bodyId],
    queryFn: ({ signal }) => get<{ body: HookBody; data: unknown }>(bodyPath(id, bodyId), {}, signal),
  })

export const hookPreviewQuery = (id: string, mapping: Mapping, sample: unknown) =>
  queryOptions({
    queryKey: ['hooks', 'preview', id, mapping, sample],
    queryFn: () => send<HookPreview>('POST', `${path(id)}/preview`, { mapping, sample }),
    placeholderData: keepPreviousData,
    retry: false,
  })

export function createHook(settings: NewHook) {
  return send<{ hook: Hook; url: string }>('POST', '/v1/hooks', settings)
}

export interface HookChanges {
  name?: string
  enabled?: boolean
  mapping?: Mapping
  signing_secret?: string
  /** null: bodies are no longer signed. */
  signature_header?: string | null
}

export function changeHook(id: string, changes: HookChanges) {
  return send<{ hook: Hook }>('PATCH', path(id), changes)
}

export function rotateHookToken(id: string, revokesOld: boolean) {
  return send<{ url: string }>('POST', `${path(id)}/rotate`, { revoke_old_url: revokesOld })
}

export function deleteHook(id: string) {
  return send('DELETE', path(id))
}

export function runHookBody(id: string, bodyId: string) {
  return send<{ body: HookBody }>('POST', `${bodyPath(id, bodyId)}/run`)
}

export function refreshHooks(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['hooks'] })
}

function path(id: string): string {
  return `/v1/hooks/${encodeURIComponent(id)}`
}

function bodyPath(id: string, bodyId: string): string {
  return `${path(id)}/bodies/${encodeURIComponent(bodyId)}`
}
