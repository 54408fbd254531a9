import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  CreateHookInput,
  Hook,
  HookBody,
  HookField,
  HookMapping,
  PreviewHookResult,
  UpdateHookInput,
} from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { Hook, HookBody, HookField, HookMapping, PreviewHookResult }
export type HookChanges = Omit<UpdateHookInput, 'hook_id'>

/** A tenant's limit. */
const ALL = { limit: 50 }
/** All that are kept. */
export const BODIES_LENGTH = 50

export const hooksQuery = queryOptions({
  queryKey: ['hooks', 'list'],
  queryFn: ({ signal }) => call('listHooks', ALL, signal),
  select: ({ hooks }) => hooks,
})

export const hookQuery = (hook_id: string) =>
  queryOptions({
    queryKey: ['hooks', 'one', hook_id],
    queryFn: ({ signal }) => call('getHook', { hook_id }, signal),
    select: ({ hook }) => hook,
  })

export const hookBodiesQuery = (hook_id: string) =>
  queryOptions({
    queryKey: ['hooks', 'bodies', hook_id],
    queryFn: ({ signal }) => call('listHookBodies', { hook_id, limit: BODIES_LENGTH }, signal),
    select: ({ bodies }) => bodies,
  })

export const hookBodyQuery = (hook_id: string, body_id: string) =>
  queryOptions({
    queryKey: ['hooks', 'body', hook_id, body_id],
    queryFn: ({ signal }) => call('getHookBody', { hook_id, body_id }, signal),
  })

export const hookPreviewQuery = (hook_id: string, mapping: HookMapping, sample: unknown) =>
  queryOptions({
    queryKey: ['hooks', 'preview', hook_id, mapping, sample],
    queryFn: () => call('previewHook', { hook_id, mapping, sample }),
    placeholderData: keepPreviousData,
    retry: false,
  })

export function createHook(settings: CreateHookInput) {
  return call('createHook', settings)
}

export function updateHook(hook_id: string, changes: HookChanges) {
  return call('updateHook', { hook_id, ...changes })
}

export function rotateHookToken(hook_id: string, revokesOld: boolean) {
  return call('rotateHookToken', { hook_id, revoke_old_url: revokesOld })
}

export function deleteHook(hook_id: string) {
  return call('deleteHook', { hook_id })
}

export function runHookBody(hook_id: string, body_id: string) {
  return call('runHookBody', { hook_id, body_id })
}

export function refreshHooks(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['hooks'] })
}
