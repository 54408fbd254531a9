import { keyOf, queryOf } from '../api/operation.ts'

/** A workspace has no more hooks, and a hook keeps no more deliveries. */
const ALL = 50

export const hooksQuery = () => queryOf('listHooks', { limit: ALL })
export const hookQuery = (hook_id: string) => queryOf('getHook', { hook_id })
export const bodiesQuery = (hook_id: string) => queryOf('listHookBodies', { hook_id, limit: ALL })
export const bodyQuery = (hook_id: string, body_id: string) => queryOf('getHookBody', { hook_id, body_id })

/** The URL of a hook, once a person has asked to see it: the audit log records each time. */
export const urlQuery = (hook_id: string) => ({ ...queryOf('revealHookUrl', { hook_id }), enabled: false })
export const urlKey = (hook_id: string) => keyOf('revealHookUrl', { hook_id })
